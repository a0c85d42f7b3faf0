# Drops the findings that exceptions.txt lists. A line "FILE WORDS" excuses the findings in FILE
# that contain WORDS; one that excuses nothing has become untrue and is a finding itself. Circles
# are not looked for without the objects, so then their lines may excuse nothing.
# Input: exceptions.txt, then findings.
NR == FNR && FILENAME == list {
	if ($0 == "" || /^#/) next
	file[++count] = $1
	words[count] = substr($0, length($1) + 2)
	line[count] = FNR
	next
}
{
	excused = 0
	for (i = 1; i <= count; i++)
		if (index($0, file[i] ":") == 1 && index($0, words[i]) > 0)
			excused = used[i] = 1
	if (!excused) print
}
END {
	for (i = 1; i <= count; i++)
		if (!(i in used) && (objects || words[i] !~ /circle/))
			print "tests/lint/exceptions.txt:" line[i] ": " file[i] " has no \"" \
			    words[i] "\"; delete this line"
}
