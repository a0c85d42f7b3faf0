# C without comments and without what stands between quotes, line by line, so that the number of a
# finding's line is right. "" and '' stay, and so do the names in #include "...".
# Output: file:line:code.
FNR == 1 { comment = 0 }

function strip(text,    out, c, two, quote) {
	out = ""
	while (text != "") {
		c = substr(text, 1, 1)
		two = substr(text, 1, 2)
		if (comment) {
			if (two == "*/") { comment = 0; text = substr(text, 3) }
			else text = substr(text, 2)
		} else if (quote != "") {
			if (c == "\\") text = substr(text, 3)
			else {
				if (c == quote) { quote = ""; out = out c }
				text = substr(text, 2)
			}
		} else if (two == "/*") { comment = 1; text = substr(text, 3) }
		else if (two == "//") return out
		else {
			if (c == "\"" || c == "'") quote = c
			out = out c
			text = substr(text, 2)
		}
	}
	return out
}

{
	if (!comment && $0 ~ /^[ \t]*#[ \t]*include/)
		print FILENAME ":" FNR ":" $0
	else
		print FILENAME ":" FNR ":" strip($0)
}
