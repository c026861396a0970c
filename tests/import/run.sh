#!/bin/sh
# kvplan import: every published size, each trap of real configs by name,
# splits that are not legal, and the geometries in layouts/imported.  Run from
# the top directory; B is the build directory.
B=${B:-build}
kvplan=$B/kvplan
here=tests/import
tab=$(printf '\t')
. tests/shell.sh

# config NAME: its file
config()
{
	for folder in configs facts; do
		[ -f "$here/$folder/$1.json" ] &&
			echo "$here/$folder/$1.json"
	done
}

# unsaid NAME: what has to be said of a config that states no dtype
unsaid()
{
	case $1 in
	bamba-9b | falcon-h1-34b | granite-4.0-h-micro)
		echo --conv-dtype=bf16 ;;
	esac
}

# state NAME: any state dtype, where one has to be said
state()
{
	grep -q "^row$tab$1$tab.*${tab}bf16$tab" "$here/expected.tsv" &&
		echo --state-dtype=bf16
	grep -q "^row$tab$1$tab.*${tab}fp16$tab" "$here/expected.tsv" &&
		echo --state-dtype=fp16
}

# import WHAT EXIT ARG...
import()
{
	told=$1 exit=$2
	shift 2
	"$kvplan" import "$@" >"$tmp/out" 2>"$tmp/err"
	code=$?
	if [ "$code" -eq "$exit" ]; then
		pass
	else
		fail "$told: exit $code, not $exit: $(cat "$tmp/err")"
	fi
}

# change NAME JQ: the config changed, as $tmp/changed.json.  The changes were
# noted before and are made by one jq, which takes longer to start than an
# import does.
change()
{
	changes=$((changes + 1))
	if [ "$(cat "$tmp/change.$changes" 2>/dev/null)" = "$1 $2" ]; then
		cp "$tmp/made.$changes" "$tmp/changed.json"
	else
		fail "change $1 '$2': not noted as number $changes"
	fi
}

# note FILE...: go through these with everything but changes left out, and
# note those.
note()
(
	import() { :; }
	same() { :; }
	says() { :; }
	query() { :; }
	pass() { :; }
	fail() { :; }
	attending() { :; }
	jq() { :; }
	kvplan=:
	change()
	{
		changes=$((changes + 1))
		printf '%s' "$1 $2" >"$tmp/change.$changes"
		printf ', ($config["%s"] |\n%s\n)' "$1" "$2" >&3
	}
	for file in "$@"; do
		. "$file"
	done
)

# make_changes FILE...: what they change, as $tmp/made.1, made.2 ...
make_changes()
{
	for file in "$here"/configs/*.json "$here"/facts/*.json; do
		name=${file##*/}
		printf '{"%s":' "${name%.json}"
		sed 's/Infinity/1e308/' "$file"
		echo '}'
	done >"$tmp/configs"
	(
		echo '(reduce inputs as $file ({}; . + $file)) as $config | empty'
		note "$@" 3>&1 >/dev/null 2>&1
	) >"$tmp/changes"
	jq -nc -f "$tmp/changes" "$tmp/configs" |
		awk -v to="$tmp/made." '{ print >(to NR); close(to NR) }'
}

# --- the table ---

# a_split FIELDS TP BYTES
check_plane()
{
	case $bytes in
	no)
		import "$what" 2 --tp="$tp" --kv-dtype="$kv" $said "$file"
		says "$what" "--tp=$tp: num_attention_heads" "legal: 1, 2, 4"
		return ;;
	esac
	page=
	[ "$kind" = page ] || page=--page-tokens=16
	import "$what" 0 --tp="$tp" --kv-dtype="$kv" $page $said "$file"
	[ "$kind" = page ] || bytes=$((16 * bytes))
	query "$what" "[$count,$bytes]" "$tmp/out" \
		".planes[] | select(.name == \"$class\") |
		 [.count, .bytes_per_page]"
}

check_row()
{
	[ "$kv" = - ] && dtype= || dtype=--state-dtype=$kv
	[ "$bytes" = no ] && exit=2 || exit=0
	import "$what" "$exit" --tp="$tp" --kv-dtype=bf16 $(unsaid "$name") \
		$dtype "$file"
	[ "$bytes" = no ] && return
	query "$what" "$bytes" "$tmp/out" .row_bytes
	says "$what" "row: $count layers x "
}

# The layers of full attention, ranges written out.
attending()
{
	sed -n 's/^  [0-9]* of full attention: //p' "$1" | tr , '\n' |
		awk -F- '{ for (i = $1; i <= $NF; i++) print i }' | paste -sd,
}

table()
{
	while IFS=$tab read -r kind name class count kv tp1 tp2 tp4 tp8; do
		file=$(config "$name")
		case $kind in
		plane | page)
			said="$(unsaid "$name") $(state "$name")"
			check=check_plane ;;
		row)
			check=check_row ;;
		layers)
			import "$name" 0 --tp=1 --kv-dtype=bf16 \
				$(unsaid "$name") $(state "$name") "$file"
			same "$name: attention" "$class" \
				"$(attending "$tmp/err")"
			continue ;;
		*)
			continue ;;
		esac
		for tp in 1 2 4 8; do
			eval "bytes=\$tp$tp"
			what="$name $class $kv TP$tp"
			$check
		done
	done <"$here/expected.tsv"
}

table
changes=0
make_changes "$here/traps.sh" "$here/refusals.sh"
. $here/traps.sh
. $here/refusals.sh
. $here/layouts.sh
close
