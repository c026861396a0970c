# shellcheck shell=sh
# Part of run.sh: LIMITS in kvplan(1) names every limit of the sources, which
# are listed in limits.txt, with the value that it has.
list=$work/limits
grep -v '^#' tests/man/limits.txt >"$list"

# A constant that is not listed escapes nobody, nor does one that is gone.
grep -rnoE '^#define [A-Z0-9_]+_(MAX|MIN)\>' src include |
	sed 's/^\([^:]*\):[^ ]* /\1 /' | sort >"$work/program"
awk '$2 ~ /_(MAX|MIN)$/ { print $1, $2 }' "$list" | sort >"$work/manual"
same 'limits of the sources and tests/man/limits.txt'
# A limit that is a bare number has no name to be found by.
if grep -rnE 'json_string\(&?[^,]*, *[0-9]|json_list_count\([^,]*, *[0-9]' \
	src || grep -rnE 'opt_number\([^;]*, [0-9]{2,}' src; then
	fail 'limits above that are bare numbers; give them names'
else
	pass
fi

# Their values, from a program that has the definitions of every file in turn.
{
	printf '#include <stdint.h>\n#include <stdio.h>\n'
	printf '#include <kvplan/kvplan.h>\nint main(void)\n{\n'
	cut -d ' ' -f 1 "$list" | sort -u | while read -r file; do
		names=$(awk -v file="$file" '$1 == file { print $2 }' "$list")
		case $file in
		src/*) for name in $names; do
			grep -E "^#define $name " "$file"
		done ;;
		esac
		for name in $names; do
			printf 'printf("%s %%llu\\n", %s(%s));\n' \
				"$file $name" '(unsigned long long)' "$name"
		done
		case $file in
		src/*) for name in $names; do
			echo "#undef $name"
		done ;;
		esac
	done
	printf 'return 0;\n}\n'
} >"$work/limits.c"
${CC:-gcc} -std=c11 -Iinclude -o "$work/values.bin" "$work/limits.c" &&
	"$work/values.bin" >"$work/values" || {
	fail 'the limits have no values'
	return
}

mandoc -T ascii -O width=500 man/kvplan.1 | sed 's/.\x08//g' |
	awk '/^[A-Z]/ { on = $1 == "LIMITS" } on' | tr -s ' \n' ' ' \
	>"$work/section"
# spelt VALUE: as people write it.
spelt() {
	echo "$1" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta'
	if [ "$1" -ge 1048576 ] && [ $(($1 % 1048576)) -eq 0 ]; then
		echo "$(($1 / 1048576)) MiB"
		[ $(($1 % 1073741824)) -ne 0 ] || echo "$(($1 / 1073741824)) GiB"
	fi
}
while read -r file name text; do
	value=$(awk -v file="$file" -v name="$name" \
		'$1 == file && $2 == name { print $3 }' "$work/values")
	found=
	case $text in
	internal:*) [ "$text" = internal: ] || found=yes ;;
	*N-1*) value=$((value - 1)) text=$(echo "$text" | sed 's/N-1/N/') ;;
	esac
	spelt "$value" >"$work/spelt"
	while read -r word; do
		said=$(echo "$text" | sed "s/\\<N\\>/$word/")
		grep -qF -e " $said" "$work/section" && found=yes
	done <"$work/spelt"
	if [ "$found" ]; then
		pass
	else
		fail "LIMITS in kvplan(1) has no '$text', N being $(cat \
			"$work/spelt"): $name in $file"
	fi
done <"$list"
