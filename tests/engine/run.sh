#!/bin/sh
# The engine example, in this machine's memory: tests/gpu/engine_example.py
# with --host.  Needs python3, its standard library only.  Run from the top
# directory; B is the build directory, SAN the sanitizers in it.
# shellcheck disable=SC2317  # functions are called by check
B=${B:-build}
example=tests/gpu/engine_example.py
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

close() {
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}
# check WHAT COMMAND...
check() {
	what=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		cat "$work/log"
		echo "FAIL engine: $what"
		failed=$((failed + 1))
	fi
}
if ! command -v python3 >/dev/null 2>&1; then
	echo 'SKIP engine/structs: no python3'
	echo 'SKIP engine/example: no python3'
	skipped=2
	close
fi

# The structs that it mirrors: size and place of every member.
cat >"$work/structs.py" <<'END'
import ctypes, sys
sys.path.insert(0, "tests/gpu")
import engine_example as e
names = {e.Error: "kvp_error", e.Options: "kvp_realize_options"}
if sys.argv[1] == "c":
    print("#include <stdio.h>\n#include <stddef.h>")
    print("#include <kvplan/kvplan.h>\nint main(void)\n{")
for struct, name in names.items():
    if sys.argv[1] == "c":
        print(f'printf("{name} %zu\\n", sizeof(struct {name}));')
    else:
        print(name, ctypes.sizeof(struct))
    for member, *_ in struct._fields_:
        if sys.argv[1] == "c":
            print(f'printf("{name} {member} %zu %zu\\n", offsetof(struct '
                  f'{name}, {member}), sizeof(((struct {name} *)0)->{member}));')
        else:
            place = getattr(struct, member)
            print(name, member, place.offset, place.size)
if sys.argv[1] == "c":
    print("return 0;\n}")
END
structs() {
	python3 "$work/structs.py" c >"$work/structs.c" &&
		python3 "$work/structs.py" python >"$work/python" &&
		${CC:-gcc} -std=c11 -Iinclude -o "$work/structs" \
			"$work/structs.c" &&
		"$work/structs" >"$work/c" && [ -s "$work/c" ] &&
		diff "$work/python" "$work/c"
}
check 'the structs of the example (<) are those of the headers (>)' structs

# The library of a sanitized build needs a sanitized python.
if [ "${SAN:-}" ]; then
	echo "SKIP engine/example: python3 is not built with $SAN"
	skipped=1
	close
fi
for layout in example kimi-k3.1-pro-tp16-dcp16 nemotron-3-nano-tp4-dcp2; do
	check "$layout" python3 "$example" --host \
		--lib="$B/libkvplan.so" "layouts/$layout.json"
done
says() {
	python3 "$example" --host --lib="$B/libkvplan.so" "$@" \
		>"$work/out" 2>"$work/err"
	code=$?
	cat "$work/out" "$work/err"
}
without_rows() {
	says layouts/llama-3.1-70b-tp8.json
	[ "$code" -eq 2 ] && grep -q 'no snapshot row' "$work/err"
}
check 'a layout without rows' without_rows
broken() {
	echo '{}' >"$work/broken.json"
	says "$work/broken.json"
	[ "$code" -eq 1 ] && grep -q 'kvp_geometry_read: .*format' "$work/err"
}
check 'errors of the library carry its text' broken
close
