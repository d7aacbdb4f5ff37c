/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/reader.h"

uint64_t read_leb(struct reader *r, uint8_t byte, int *bits)
{
	uint64_t v = byte & 0x7f;

	for (*bits = 7; byte & 0x80;) {
		byte = read_byte(r);
		if (*bits < 64) {
			v |= (uint64_t)(byte & 0x7f) << *bits;
			*bits += 7;
		}
	}
	return v;
}

int64_t read_sleb(struct reader *r)
{
	uint8_t byte = read_byte(r);
	int bits;
	uint64_t v = read_leb(r, byte, &bits), sign = 1ULL << (bits < 64 ? bits - 1 : 63);

	return (v ^ sign) - sign;
}

uint64_t read_any_pointer(struct reader *r, uint8_t encoding)
{
	uint64_t base = (encoding & 0xf0) == DW_EH_PE_pcrel ? read_address(r) : 0, v = 0;

	if ((encoding & 0xf0) != DW_EH_PE_absptr && (encoding & 0xf0) != DW_EH_PE_pcrel)
		r->failed = true;
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		v = read_unsigned(r, 8);
		break;
	case DW_EH_PE_udata4:
		v = read_unsigned(r, 4);
		break;
	case DW_EH_PE_sdata4:
		v = (int32_t)read_unsigned(r, 4);
		break;
	case DW_EH_PE_udata2:
		v = read_unsigned(r, 2);
		break;
	case DW_EH_PE_sdata2:
		v = (int16_t)read_unsigned(r, 2);
		break;
	case DW_EH_PE_uleb128:
		v = read_uleb(r);
		break;
	case DW_EH_PE_sleb128:
		v = read_sleb(r);
		break;
	default:
		r->failed = true;
	}
	return base + v;
}
