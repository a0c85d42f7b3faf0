# Functions of at most 60 lines and 5 parameters, and no banned calls. A public handle (dw *) as the
# first parameter is not counted. It relies on the formatting: a body's braces stand in the first
# column. Input: lines of strip.awk.
BEGIN {
	lines_max = 60
	parameters_max = 5
	right["strcpy"] = right["strcat"] = right["sprintf"] = "use snprintf or memcpy with a size"
	right["gets"] = "use fgets"
	right["atoi"] = "use strtol or a parser that finds errors"
	right["strtok"] = "use strcspn or strtok_r"
	right["alloca"] = "use a bounded array or the allocator"
	right["rand"] = "use base/rng.h"
	right["usleep"] = "wait for the event"
	own = "the library has no locale: use base/ascii.h, or compare characters"
	count = split("strcasecmp strncasecmp strcasestr strcoll strxfrm tolower toupper isalnum " \
	    "isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper " \
	    "isxdigit strtod strtof strtold atof setlocale localeconv", names, " ")
	for (i = 1; i <= count; i++) of_locale[names[i]] = own
}

# parameters counts them in "name(a, b(c, d), e)": the commas between the outermost brackets.
function parameters(text,    i, c, depth, count, empty) {
	count = 1
	empty = 1
	for (i = index(text, "("); i > 0 && i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == ")" && --depth == 0) break
		if (c == "," && depth == 1) count++
		if (depth > 0 && c !~ /[ \t]/) empty = 0
		if (c == "(") depth++
	}
	return empty ? 0 : count
}

function judge_signature(    name, count) {
	name = signature
	sub(/[ \t]*\(.*/, "", name)
	sub(/.*[^A-Za-z0-9_]/, "", name)
	function_name = name
	count = parameters(signature)
	if (signature ~ /\([ \t]*(const[ \t]+)?(struct[ \t]+)?dw[ \t]*\*/) count--
	if (signature ~ /struct MHD_Connection \*/) return # a callback as libmicrohttpd has it
	if (count > parameters_max)
		print file ":" signature_line ": " name " has " count " parameters; at most " \
		    parameters_max ": put what belongs together into a struct"
}

# in_library: the locale of the command is always "C".
function in_library(file) { return file ~ /^src\// && file !~ /^src\/(cli|web)\// }

function judge_calls(    text, name) {
	text = code
	while (match(text, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
		name = substr(text, RSTART, RLENGTH - 1)
		sub(/[ \t]+$/, "", name)
		if (name in right)
			print file ":" line ": " name " is banned; " right[name]
		if (name in of_locale && in_library(file))
			print file ":" line ": " name " is banned; " of_locale[name]
		text = substr(text, RSTART + RLENGTH)
	}
}

{
	match($0, /:[0-9]+:/)
	code = substr($0, RSTART + RLENGTH)
	if (file != substr($0, 1, RSTART - 1)) { signature = ""; inside = 0 }
	file = substr($0, 1, RSTART - 1)
	line = substr($0, RSTART + 1) + 0
	judge_calls()
}

inside && code ~ /^}/ {
	inside = 0
	if (line - signature_line + 1 > lines_max)
		print file ":" signature_line ": " function_name " has " line - signature_line + 1 \
		    " lines; at most " lines_max ": give its parts names of their own"
}
inside { next }

code ~ /^{/ {
	if (signature ~ /\(/) { inside = 1; judge_signature() }
	signature = ""
	next
}
# A signature begins in the first column and goes on until the brace.
code ~ /^[A-Za-z_]/ && code !~ /[;=]/ && code !~ /:[ \t]*$/ {
	if (signature == "" || signature ~ /\)[ \t]*$/) { signature = ""; signature_line = line }
	signature = signature " " code
	next
}
signature != "" { signature = code ~ /[;{}#]/ ? "" : signature " " code }
