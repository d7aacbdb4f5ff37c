#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The layers of src/, as #include lines show them:
#
#   util <- model <- {proc, helper, sym/names, record} <- {collect, export, tui}
#
# Nothing in one brace includes a neighbour; what is directly in src/ may see all.
cd "${srcdir:-.}/src" || exit 1

# What the folder's files may include of src/, besides their own folder.
allowed() {
	case $1 in
	util) echo "" ;;
	model) echo "util/" ;;
	proc | helper | record) echo "util/ model/" ;;
	sym) echo "util/ model/ helper/" ;;
	collect | export | tui) echo "util/ model/ proc/ helper/ sym/names.h record/" ;;
	esac
}

# Where a library's headers may be included: "pattern of headers|folders".
libraries='bpf/.*|collect record
systop\.skel\.h|collect record
(ncursesw?/)?(ncurses|curses|term|panel)\.h|tui
(elfutils/|dwarf|libelf|gelf).*|sym
protobuf-c/.*|export
.*\.pb-c\.h|export'

# "file header" for every include of the folder that opens with one of these characters
includes() {
	find "$1" -name '*.[ch]' | sort | while read -r file; do
		sed -n "s/^[ \t]*#[ \t]*include[ \t]*[$2]\([^>\"]*\)[>\"].*/\1/p" "$file" |
			sed "s|^|$file |"
	done
}

check_layer() {
	includes "$1" '"' | while read -r file header; do
		case $header in
		*/*) ;;
		*) [ ! -e "$1/$header" ] || echo "$file includes \"$header\" without its folder" ;;
		esac
	done
	includes "$1" '<"' | while read -r file header; do
		case $header in */*) ;; *) continue ;; esac
		folder=${header%%/*}
		[ -d "$folder" ] && [ "$folder" != "$1" ] || continue
		ok=
		for prefix in $(allowed "$1"); do
			case $header in "$prefix"*) ok=1 ;; esac
		done
		[ -n "$ok" ] || echo "$file may not include $header"
	done
}

check_libraries() {
	includes "$1" '<"' | while read -r file header; do
		echo "$libraries" | while IFS='|' read -r line; do
			pattern=${line%|*}
			folders=${line##*|}
			echo "$header" | grep -Eqx "$pattern" || continue
			case " $folders " in
			*" $1 "*) ;;
			*) echo "$file may not include $header: only in $folders" ;;
			esac
		done
	done
}

count=0
verdict() {
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		echo "$2" | sed 's/^/# /'
	fi
}

folders=$(find . -mindepth 1 -maxdepth 1 -type d | sed 's|^\./||' | sort)
set -- $folders
echo "1..$(($# * 2 + 1))"
unknown=
for folder; do
	case $folder in
	util | model | proc | helper | sym | record | collect | export | tui) ;;
	*) unknown="$unknown src/$folder" ;;
	esac
	verdict "src/$folder includes only layers below it" "$(check_layer "$folder")"
	verdict "src/$folder includes only its libraries" "$(check_libraries "$folder")"
done
verdict "every folder of src/ is a known layer" "$unknown"
