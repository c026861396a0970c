#!/bin/sh
# Report file, function and room sizes; refuse files over 700 lines, functions
# over 60 and rooms over a fifth.  The guide's aims are 400 and 40, and 90 % of functions within 50.
set -eu
files=$(find src -name '*.c' | sort)
wc -l $files | sort -n | awk '
	$2 == "total" { next }
	{ n[NR] = $1; name[NR] = $2; last = NR }
	$1 > 700 { print "sizes: " $2 " has " $1 " lines, at most 700"; bad = 1 }
	END {
		printf "files      %d, median %d lines, largest %d (%s)\n",
			last, n[int((last + 1) / 2)], n[last], name[last]
		exit bad
	}'
ctags --languages=C --c-kinds=f --fields=+ne -x \
	--_xformat='%{end} %n %N %F' $files |
awk '{ print $1 - $2 + 1, $3, $4 }' | sort -n | awk '
	{ n[NR] = $1; name[NR] = $2; small += $1 <= 50 }
	$1 > 60 { print "sizes: " $2 " in " $3 " has " $1 " lines, at most 60"; bad = 1 }
	END {
		if (!NR) { print "sizes: ctags found no function"; exit 1 }
		printf "functions  %d, median %d lines, largest %d (%s), %d %% within 50\n",
			NR, n[int((NR + 1) / 2)], n[NR], name[NR], 100 * small / NR
		if (small < 0.9 * NR) { print "sizes: fewer than 90 % within 50 lines"; bad = 1 }
		exit bad
	}'
# What each room holds.  One that holds more than a fifth is two; cli is apart,
# a file for each command.
for room in src/*/; do
	cat "$room"*.c "$room"*.h 2>/dev/null | wc -l | sed "s,\$, ${room#src/},"
done | sort -rn | awk '
	{ n[NR] = $1; name[NR] = $2; if ($2 != "cli/") sum += $1 }
	END {
		for (i = 1; i <= NR; i++) {
			share = int(100 * n[i] / sum + 0.5) " %"
			apart = name[i] == "cli/"
			printf "%-10s %6d lines  %s\n", name[i], n[i], apart ? "apart" : share
			if (!apart && n[i] > sum / 5) {
				print "sizes: " name[i] " holds more than a fifth; it is two rooms"
				bad = 1
			}
		}
		exit bad
	}'
