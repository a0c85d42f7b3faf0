# Rules for text as it stands: file length, line length (a tab is 8 columns), unfinished work.
BEGIN {
	lines_max = 600
	# Each is one text, read from its beginning to its end.
	manual["include/durawheel/durawheel.h"] = 900
	manual["include/durawheel/durawheel.hpp"] = 1640 # one header, of one-line functions
	columns_max = 100
	# Written apart, so that this file does not find itself.
	unfinished = "(^|[^A-Za-z])(TO" "DO|FIX" "ME)([^A-Za-z]|$)|" \
	    "(^|[^X])X" "XX([^X]|$)|not impl" "emented"
	skipping = "(^|[^A-Za-z0-9_])sk" "ip[(][)]"
}

function columns(text,    i, c, n) {
	if (text !~ /\t/) { gsub(/[\200-\277]/, "", text); return length(text) }
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\t") n += 8 - n % 8
		else if (c !~ /[\200-\277]/) n++
	}
	return n + 0
}

function end_of_file(    max) {
	max = file_name in manual ? manual[file_name] : lines_max
	if (file_lines > max)
		print file_name ":" file_lines ": file has " file_lines " lines; at most " \
		    max ": make two of it"
}

FNR == 1 { end_of_file(); file_name = FILENAME }
{ file_lines = FNR }
columns($0) > columns_max {
	print FILENAME ":" FNR ": line has " columns($0) " columns; at most " columns_max
}
FILENAME ~ /^src\/.*[.][ch]$/ && FILENAME !~ /^src\/(cli|web)\// {
	formats = $0
	gsub(/%%/, "", formats)
	if (formats ~ /"[^"]*%[-+ #0-9.*]*[lL]?[aefgAEFG]/)
		print FILENAME ":" FNR ": printf writes a fraction as the locale does: write " \
		    "whole numbers"
}
$0 ~ unfinished { print FILENAME ":" FNR ": unfinished work; finish it or take it out" }
$0 ~ skipping && FILENAME !~ /support\/cmocka[.]h$/ {
	print FILENAME ":" FNR ": a test that gives up; let it check, or call not_tested()"
}
END { end_of_file() }
