#!/bin/sh
# The models of what processes tell each other, searched to the end by SPIN:
# every claim under every transport it is made for, then without each guard,
# where the claim that needs the guard has to be refuted.  Run from the top
# directory.
. tests/shell.sh

skip()
{
	echo "SKIP model: $*"
	skipped=1
	close
}
command -v spin >"$tmp/out" || skip 'no spin here; "make deps-test" installs it'
[ -z "${SAN:-}" ] || skip 'nothing in it that a sanitizer sees'

top=$(pwd)
# open_model NAME: what is searched from here on
open_model()
{
	model=tests/model/$1.pml
	if (cd "$tmp" && spin -a "$top/$model" &&
		${CC:-gcc} -O1 -w -DNOFAIR -o pan pan.c) >"$tmp/out" 2>&1
	then
		pass
	else
		fail "$model: does not compile: $(cat "$tmp/out")"
		close
	fi
	: >"$tmp/promise"
	: >"$tmp/tried"
}

# search CLAIM TRANSPORT GUARD: what the search without the guard found, holds
# or refuted, in $found.  "nothing" is no guard.  A transport that ends in "+"
# is patient.
search()
{
	found='' number=0 transport=0 patient=0
	case $2 in PARTIAL*) transport=1 ;; esac
	case $2 in *+) patient=1 ;; esac
	[ "$3" = nothing ] || number=$(sed -n "s/^#define $3 //p" "$model")
	(cd "$tmp" && TRANSPORT=$transport PATIENT=$patient \
		WITHOUT=${number:?no guard $3} \
		./pan -a -m10000 -w20 -N "$1") >"$tmp/out" 2>&1
	if ! grep -q "never claim.*($1)" "$tmp/out"; then
		found='another claim searched'
	elif grep -qi 'max search depth\|not completed\|out of memory' \
		"$tmp/out" && grep -q 'errors: 0$' "$tmp/out"
	then
		found='not searched to the end'
	elif grep -q 'errors: 0$' "$tmp/out"; then
		found=holds
	elif grep -q 'errors: 1$' "$tmp/out" && grep -q \
		'^pan:1: \(assertion violated *!(\|acceptance cycle\)' "$tmp/out"
	then
		found=refuted
	fi
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$tmp/out")
	printf '%-8s %-14s %-9s without %-24s %7s states\n' \
		"${found:-?}" "$1" "$2" "$3" "$states"
}

# expect FOUND CLAIM TRANSPORT GUARD
expect()
{
	search "$2" "$3" "$4"
	if [ "$found" = "$1" ]; then
		pass
	else
		fail "$2, $3, without $4: expected $1: $(cat "$tmp/out")"
	fi
}

# holds CLAIM TRANSPORT: a part of the promise
holds()
{
	expect holds "$1" "$2" nothing
	echo "$1 $2" >>"$tmp/promise"
}

# A line of input for each guard: the claim that needs it, and where.
guards()
{
	while read -r guard claim transport; do
		grep -qx "$claim $transport" "$tmp/promise" ||
			fail "$guard: nobody promised $claim, $transport"
		expect refuted "$claim" "$transport" "$guard"
		echo "$guard" >>"$tmp/tried"
	done
	sed -n 's/^#define \([a-z_0-9]*\) [0-9]*$/\1/p' "$model" |
		sort >"$tmp/guards"
	same "$model: guards" "$(cat "$tmp/guards")" "$(sort -u "$tmp/tried")"
}

open_model exchange
for claim in standing together file_true granted_first matched no_stranger \
	keeps clean
do
	holds $claim UNIFORM
	holds $claim PARTIAL
done
holds together_alive PARTIAL
holds agree UNIFORM
holds ends UNIFORM+
holds ends PARTIAL+

guards <<'LIST'
blob_1_after_work granted_first UNIFORM
blob_2_after_work standing UNIFORM
enters_every_gather ends UNIFORM+
exchange_statuses granted_first UNIFORM
exchange_missing granted_first PARTIAL
same_plan matched UNIFORM
rank_once matched UNIFORM
gpu_once matched UNIFORM
right_node matched UNIFORM
called_user no_stranger UNIFORM
called_token no_stranger UNIFORM
caller_user no_stranger UNIFORM
caller_token no_stranger UNIFORM
exchange_deadline ends UNIFORM+
undo_closes_endpoint clean UNIFORM
undo_gives_back_imports clean UNIFORM
commit_statuses standing UNIFORM
commit_statuses together UNIFORM
commit_statuses agree UNIFORM
commit_missing standing UNIFORM
commit_missing standing PARTIAL
commit_phase standing PARTIAL
commit_token standing PARTIAL
stale_says_nothing together PARTIAL
own_status keeps UNIFORM
in_doubt together_alive PARTIAL
doubt_does_not_undo keeps UNIFORM
doubt_does_not_publish keeps UNIFORM
part_of_published file_true PARTIAL
file_of_all_parts file_true UNIFORM
LIST
# What does happen; what is impossible, and where IN_DOUBT is needed.
expect refuted no_file UNIFORM nothing
expect refuted no_file PARTIAL nothing
expect refuted agree PARTIAL nothing
expect refuted same_state UNIFORM nothing
expect holds together UNIFORM in_doubt

open_model descriptors
holds never_refused -
holds ends -
guards <<'LIST'
one_batch never_refused -
batch_limit never_refused -
receives_while_waiting ends -
LIST
close
