# Rules for the files of src: sizes of headers, files and composing structs; no two structs of one
# name; and a static function that is handed on as a callback has its name for itself, because a
# debugger or a profile shows nothing else. Input: lines of strip.awk.
BEGIN {
	header_max = 150
	file_max = 500
	composing_max = 25
	folder_max = 32
	composing["engine"] = composing["redis_store"] = composing["shard"] = 1
}

function end_of_file(    what, most) {
	if (file == "") return
	most = file ~ /\.h$/ ? header_max : file_max
	what = file ~ /\.h$/ ? "private header" : "file"
	if (line > most)
		print file ":" line ": " what " has " line " lines; at most " most \
		    ": give its parts files of their own"
}

# count_module: a module is a file.c and its file.h.
function count_module(    module, folder) {
	module = file
	sub(/\.[ch]$/, "", module)
	folder = module
	sub(/\/[^\/]*$/, "", folder)
	if (module in counted) return
	counted[module] = 1
	if (++modules[folder] == folder_max + 1)
		print file ":1: the folder " folder " has more than " folder_max \
		    " modules; give those that belong together a room"
}

function begin_struct(text) {
	sub(/[ \t]*\{.*/, "", text)
	sub(/.*struct[ \t]+/, "", text)
	struct = text
	struct_line = line
	if (text in first_struct)
		print file ":" line ": a second struct " text ", beside " first_struct[text] \
		    "; give each a name of its own"
	else
		first_struct[text] = file ":" line
}

function end_struct() {
	if (struct in composing && line - struct_line - 1 > composing_max)
		print file ":" struct_line ": struct " struct " has " line - struct_line - 1 \
		    " lines; at most " composing_max ": a list of its parts' own structs"
	struct = ""
}

# note_static: a definition begins in the first column; the name stands before the bracket.
function note_static(text) {
	if (!match(text, /[A-Za-z_][A-Za-z0-9_]*\(/)) return
	text = substr(text, RSTART, RLENGTH - 1)
	if (text == "__attribute__") return
	if (!((text, file) in static_at)) files_of[text] = files_of[text] file "\n"
	static_at[text, file] = line
}

# note_values: names that are not called here, but handed on.
function note_values(text,    name, rest) {
	while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
		name = substr(text, RSTART, RLENGTH)
		rest = substr(text, RSTART + RLENGTH)
		if (rest !~ /^[ \t]*\(/ && (RSTART == 1 || substr(text, RSTART - 1, 1) !~ /[.>]/))
			value_in[name, file] = 1
		text = rest
	}
}

{
	match($0, /:[0-9]+:/)
	is_next = file != substr($0, 1, RSTART - 1)
	if (is_next) { end_of_file(); struct = "" }
	file = substr($0, 1, RSTART - 1)
	if (is_next) count_module()
	line = substr($0, RSTART + 1) + 0
	code = substr($0, RSTART + RLENGTH)
}
code ~ /^struct [a-z_0-9]+ \{$/ { begin_struct(code) }
struct != "" && code ~ /^}/ { end_struct() }
code ~ /^static / && code !~ /;/ { note_static(code); next }
code !~ /^[ \t]*#/ { note_values(code) }

END {
	end_of_file()
	for (name in files_of) {
		count = split(files_of[name], list, "\n") - 1
		if (count < 2) continue
		for (i = 1; i <= count; i++)
			if ((name, list[i]) in value_in)
				print list[i] ":" static_at[name, list[i]] ": the callback " name \
				    " has its name in " count " files; say of what it is, and when"
	}
}
