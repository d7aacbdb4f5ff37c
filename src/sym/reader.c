/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sym/reader.h"

#include <dwarf.h>

struct reader read_block(struct reader *r)
{
	struct reader block = *r;
	uint64_t size = read_uleb(r);

	block.at = r->at;
	read_skip(r, size);
	block.end = r->at;
	return block;
}

/* Of the next byte. */
static uint64_t read_address(const struct reader *r)
{
	return r->address + (r->at - r->start);
}

uint64_t read_pointer(struct reader *r, uint8_t encoding)
{
	uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? read_address(r) : 0, v = 0;

	if ((encoding & 0x70) != DW_EH_PE_absptr && (encoding & 0x70) != DW_EH_PE_pcrel)
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
