#!/bin/sh
# One bad plan per rule.  Each is told by that rule and no other, by kvplan
# verify and by kvcheck, and lowering the rule lowers what is found.
# Run from the top directory; B is the build directory.
B=${B:-build}
dir=tests/rules
. tests/shell.sh

# Rules that need a rule and are not judged when it is only a warning: a
# lowered rule must not pass others unseen.
dependants()
{
	case $1 in
	alignment) echo plane-coverage ;;
	plane-coverage) echo arena-coverage physical-bytes capacity ;;
	arena-coverage) echo addresses conflicts rows entry-limit ;;
	conflicts) echo permutation ;;
	permutation) echo merge ;;
	merge) echo entries bound ;;
	access) echo entries ;;
	esac
}

# words RULE...: sorted, on one line
words()
{
	printf '%s\n' "$@" | sort -u | tr '\n' ' ' | sed 's/^ *//; s/ *$//'
}

# seen SEVERITY: the rules with findings of a severity, from verify's JSON
seen()
{
	words $(printf '%s\n' "$json" | jq -r --arg s "$1" \
		'.plans[].findings[] | select(.severity == $s) | .rule')
}

# marked LETTER: the rules on kvcheck's lines of a kind
marked()
{
	words $(printf '%s\n' "$text" | sed -n "s/^$1 \([a-z-]*\): .*/\1/p")
}

# verify OPTION...: sets json, text, code_json and code_text
verify()
{
	json=$("$B/kvplan" verify --format=json "$@" "$plan")
	code_json=$?
	text=$("$B/kvcheck" "$@" "$plan")
	code_text=$?
}

# A rule that is a warning unless it is asked to be an error.  kvcheck cannot
# be asked.
check_mild()
{
	verify
	same "$1: exits" '0 0' "$code_json $code_text"
	same "$1: warnings" "$1 $1" "$(seen warning) $(marked w)"
	same "$1: errors" ' ' "$(seen error) $(marked e)"
	json=$("$B/kvplan" verify --format=json --error="$1" "$plan")
	same "$1, as an error: kvplan verify exits" 1 $?
	same "$1, as an error: kvplan verify's rules" "$1" "$(seen error)"
	same "$1, as an error: its warnings" '' "$(seen warning)"
}

check_bad()
{
	verify
	same "$1: kvplan verify exits" 1 "$code_json"
	same "$1: kvplan verify's rules" "$1" "$(seen error)"
	same "$1: kvplan verify's warnings" '' "$(seen warning)"
	same "$1: kvcheck exits" 1 "$code_text"
	same "$1: kvcheck's rules" "$1" "$(marked e)"
	same "$1: kvcheck's other lines" 's NOT VERIFIED' \
		"$(printf '%s\n' "$text" | grep -v "^e $1: ")"
}

check_warned()
{
	needs=$(words $(dependants "$1"))
	verify "--warn=$1"
	same "$1, lowered: warnings" "$1 $1" "$(seen warning) $(marked w)"
	same "$1, lowered: kvplan verify's rules" "$needs" "$(seen error)"
	same "$1, lowered: kvcheck's rules" "$needs" "$(marked e)"
	same "$1, lowered: exits" "$([ "$needs" ] && echo 1 1 || echo 0 0)" \
		"$code_json $code_text"
	set --
	for rule in $rules; do
		set -- "$@" "--warn=$rule"
	done
	verify "$@"
	same "$plan, all lowered: exits" '0 0' "$code_json $code_text"
	same "$plan, all lowered: errors" '' "$(seen error)$(marked e)"
	same "$plan, all lowered: last line" 's VERIFIED' \
		"$(printf '%s\n' "$text" | tail -n 1)"
}

rules=$("$B/kvplan" verify --list-rules | awk '{ print $1 }')
[ -n "$rules" ] || fail "kvplan verify --list-rules: prints no rule"
same "fixtures and rules" "$(printf '%s\n' "$rules" | wc -l)" \
	"$(ls "$dir"/*.json | wc -l)"
for rule in $rules; do
	plan=$dir/$rule.json
	if [ ! -r "$plan" ]; then
		fail "$rule: no $plan"
		continue
	fi
	case $rule in
	address-space) check_mild "$rule" ;;
	*) check_bad "$rule" ;;
	esac
	check_warned "$rule"
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
