# Replay a trace: jq -n -f model.jq --argjson check BOOL --argjson publish BOOL
# answers "" or the first thing that is wrong.  Events come one at a time, so
# a trace may be long.
def number: {IDLE: 0, RESERVED: 1, CREATED: 2, MAPPED: 3, GRANTED: 4,
	     CHECKED: 5, PUBLISHED: 6, UNWOUND: 7};
def before($s): if $s == 6 and ($check | not) then 4 else $s - 1 end;
def acquiring: {reserve: "unreserve", create: "release", map: "unmap"};
def complain($what; $e): .wrong = (.wrong // "\($what): \($e | tojson)");
def state($e): number[$e.state] as $to
	| (.rank[$e.rank | tostring] // 0) as $from
	| if $to == 7 then (if $from == 7 then complain("unwound twice"; $e)
			    else . end)
	  elif $from != before($to) then complain("not the next state"; $e)
	  elif any(.rank[]; . < before($to)) then
		complain("ahead of other ranks"; $e)
	  else . end
	| .rank[$e.rank | tostring] = $to | .told[$e.state] += 1;
def call($e): (acquiring[$e.call] // null) as $undo
	| if $e.undo then
		(if (acquiring | to_entries | any(.value == $e.call)) then .
		 else complain("does not undo"; $e) end)
		| if $e.outcome == "KVP_OK" then .left[$e.call] -= 1 else . end
	  elif .failed then complain("called after a failure"; $e)
	  elif $undo and $e.outcome == "KVP_OK" then .left[$undo] += 1
	  else . end
	| if $e.outcome != "KVP_OK" and ($e.undo | not) then .failed = true
	  else . end;
reduce inputs as $e ({rank: {}, told: {}, left: {}};
	if $e.event == "state" then state($e)
	elif $e.event == "call" then call($e)
	else complain("no event"; $e) end)
| if .wrong then .wrong
  elif any(.left[]; . != 0) then "not all undone: \(.left)"
  elif any(.rank[]; . != 7) then "not all unwound: \(.rank)"
  else "" end
