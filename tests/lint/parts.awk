# Rules for the scripts. Each file below lua/ names in its line "-- uses:" the parts, files of
# lua/common, whose names it uses, and no others. Input: the files. They are read without a grammar:
# a local is known from its name on, so "local x = x" needs another name, and long strings are not
# known. The line "-- KEYS" of a script names its keys: see src/cmake/EmbedLua.cmake.
BEGIN {
	set(keywords, "and break do else elseif end false for function if in local nil not or " \
	    "repeat return then true until while")
	key_count = split("l=LEASE m=META z=TIMERS h=VALUES i=INBOX d=DEAD D=LETTERS e=NAMES " \
	    "s:NONCE=SESSION E=ENDS x=UNTILS t=TOPICS u=DROPPED n=COUNTS o=MEMBERS O=RECORDS " \
	    "R=REPORTS k=INDEX " \
	    "q:TOPIC=WAITING qt:TOPIC=TAKEN ql:TOPIC=LATER qm:TOPIC=MESSAGES " \
	    "qc:TOPIC=CONSUMERS qc:=ALL", keys, " ")
	for (i = 1; i <= key_count; i++) {
		key_of[i] = substr(keys[i], 1, index(keys[i], "=") - 1)
		name_of[i] = substr(keys[i], index(keys[i], "=") + 1)
		is_key[name_of[i]] = 1
	}
	set(given, "KEYS ARGV redis struct bit string table math tonumber tostring type ipairs " \
	    "pairs select unpack pcall error")
}

function set(words, text,    n, i, list) {
	n = split(text, list, " ")
	for (i = 1; i <= n; i++) words[list[i]] = 1
}

function say(file, line, text) { print file ":" line ": " text }

function path_of(name) { return "lua/common/" name ".lua" }

function begin_file() {
	files[++file_count] = FILENAME
	depth = 0
	names_at[0] = " "
	mode = brackets = before = part = ""
	if (FILENAME !~ /^lua\/common\//) return
	part = FILENAME
	gsub(/^.*\/|[.]lua$/, "", part)
	is_part[part] = 1
}

function open_scope(kind) {
	kinds[++depth] = kind
	names_at[depth] = " "
}

function close_scope() {
	if (kinds[depth] == "function") brackets = substr(brackets, 2)
	depth--
}

function declare(name) {
	names_at[depth] = names_at[depth] name " "
	if (depth == 0 && part != "") {
		line_of[part, name] = FNR
		names_of[part] = names_of[part] " " name
		definer[name] = part
	}
}

# use_key: a script names its keys, and makes none of its own.
function use_key(name, behind) {
	uses_key[FILENAME, name] = 1
	if (before ~ /^[.][.]$/ || behind ~ /^[ \t]*[.][.]/ || call ~ /(^|[.])sub$/)
		say(FILENAME, FNR, "a key is made of " name "; name it in the line \"-- KEYS\"")
}

# use: the file or a part must define this name, or Lua does.
function use(name,    d) {
	if (name == "KEYS") uses_key[FILENAME, name] = 1
	for (d = depth; d >= 0 && !index(names_at[d], " " name " "); d--) ;
	if (d == 0) is_used[part, name] = 1
	if (d < 0 && !(name in given) && !((FILENAME, name) in free_at)) {
		free_at[FILENAME, name] = FNR
		free[FILENAME] = free[FILENAME] " " name
	}
}

# read_name: a word that is no keyword. It may be declared, a field, or a key in a table.
function read_name(word, behind) {
	if (mode == "local" && before != "local" && before != ",") mode = ""
	if (mode == "local" || mode == "parameters") declare(word)
	else if (mode == "for") pending = pending " " word
	else if (mode == "local function") {
		declare(word)
		mode = "function"
	} else if (word in is_key) use_key(word, behind)
	else if (before != "." && before != ":" &&
	    !(brackets ~ /^[{]/ && behind ~ /^[ \t]*=([^=]|$)/)) use(word)
}

function begin_block(    i, n, list) {
	open_scope("block")
	n = split(pending, list, " ")
	for (i = 1; i <= n; i++) declare(list[i])
	pending = ""
}

function read_keyword(word) {
	if (word ~ /^(end|until|else|elseif)$/) close_scope()
	if (word ~ /^(then|else|repeat)$/) open_scope("block")
	if (word == "do") begin_block()
	if (word == "function") mode = mode == "local" ? "local function" : "function"
	else mode = word ~ /^(local|for)$/ ? word : ""
}

function read_sign(word) {
	if (word ~ /^[({[]$/) brackets = word brackets
	else if (word ~ /^[])}]$/) brackets = substr(brackets, 2)
	if (mode == "function" && word == "(") {
		open_scope("function")
		mode = "parameters"
	} else if (mode == "parameters" && word == ")") {
		brackets = "f" brackets
		mode = ""
	} else if ((mode == "local" || mode == "for") && word != ",") mode = ""
}

# read_line goes through the words and signs of a line, without its strings and its comment.
function read_line(text,    word) {
	while (match(text, /[^ \t]/)) {
		text = substr(text, RSTART)
		if (text ~ /^--/) return
		if (!match(text, /^('([^'\\]|\\.)*'|"([^"\\]|\\.)*")/) &&
		    !match(text, /^[A-Za-z_][A-Za-z0-9_]*/) &&
		    !match(text, /^([0-9][0-9A-Za-z]*|[.][.]+)/)) RLENGTH = 1
		word = substr(text, 1, RLENGTH)
		text = substr(text, RLENGTH + 1)
		if (word in keywords) read_keyword(word)
		else if (word ~ /^[A-Za-z_]/) read_name(word, text)
		else read_sign(word)
		call = word == "(" ? before : ""
		before = word
	}
}

FNR == 1 { begin_file() }
/^-- uses: / {
	uses_line[FILENAME] = FNR
	uses[FILENAME] = uses[FILENAME] substr($0, 9)
}
/^-- KEYS / {
	keys_line[FILENAME] = FNR
	keys_text[FILENAME] = substr($0, 9)
}
{ read_line($0) }

# check_names: each free name of the file is one of a part that it names.
function check_names(file,    n, i, list, m, j, named, owner, name) {
	n = split(free[file], list, " ")
	m = split(uses[file], named, " ")
	for (i = 1; i <= n; i++) {
		name = list[i]
		owner = ""
		for (j = 1; j <= m; j++) if ((named[j], name) in line_of) owner = named[j]
		if (owner != "") is_needed[file, owner] = is_used[owner, name] = 1
		else if (name in definer)
			say(file, free_at[file, name], name " is of " path_of(definer[name]) \
			    "; name it in the line \"-- uses:\"")
		else say(file, free_at[file, name], name " is not defined here")
	}
	for (j = 1; j <= m; j++) {
		is_named[named[j]] = 1
		if (!(named[j] in is_part))
			say(file, uses_line[file], "there is no " path_of(named[j]))
		else if (!((file, named[j]) in is_needed))
			say(file, uses_line[file], "uses nothing of " path_of(named[j]) \
			    "; take it out of the line")
	}
}

# meet: this part stands in the whole script, too. No two parts there may define one name.
function meet(added, script,    n, i, list, name) {
	n = split(names_of[added], list, " ")
	for (i = 1; i <= n; i++) {
		name = list[i]
		if ((script, name) in of && !said[name]++)
			say(path_of(added), line_of[added, name], "a second " name \
			    ", beside that of " path_of(of[script, name]) ", in " script)
		of[script, name] = added
	}
}

# join: the parts that stand before the file in its whole script.
function join(file, script, way,    n, i, list) {
	n = split(uses[file], list, " ")
	for (i = 1; i <= n; i++) {
		if (index(way, " " list[i] " ")) {
			if (!circles++)
				say(file, uses_line[file], "uses itself, by way of " \
				    path_of(list[i]))
		} else if (!((script, list[i]) in joined)) {
			joined[script, list[i]] = 1
			join(path_of(list[i]), script, way list[i] " ")
			meet(list[i], script)
		}
	}
}

function check_part(name,    n, i, list) {
	if (!(name in is_named)) {
		say(path_of(name), 1, "nobody names this part; delete it")
		return
	}
	n = split(names_of[name], list, " ")
	for (i = 1; i <= n; i++)
		if (!((name, list[i]) in is_used))
			say(path_of(name), line_of[name, list[i]], "nobody uses " list[i] \
			    "; delete it")
}

# check_keys: the line names the keys that the script and its parts use, in the order of the table.
# A script that uses KEYS itself may have others, too.
function check_keys(file,    i, wanted, text) {
	text = keys_text[file]
	sub(/ [.][.][.] .*/, "", text)
	gsub(/ +/, " ", text)
	for (i = 1; i <= key_count; i++) {
		if (is_joined_key(file, name_of[i])) wanted = wanted " " key_of[i]
		else if ((file, "KEYS") in uses_key && index(text " ", " " key_of[i] " "))
			wanted = wanted " " key_of[i]
	}
	if (text != wanted)
		say(file, keys_line[file] + !keys_line[file], \
		    "the line \"-- KEYS\" must begin with" wanted)
}

function is_joined_key(file, name,    part) {
	if ((file, name) in uses_key) return 1
	for (part in is_part)
		if ((file, part) in joined && (path_of(part), name) in uses_key) return 1
	return 0
}

END {
	for (i = 1; i <= file_count; i++) check_names(files[i])
	for (i = 1; i <= file_count; i++) join(files[i], files[i], " ")
	for (i = 1; i <= file_count; i++)
		if (files[i] !~ /^lua\/common\//) check_keys(files[i])
	for (name in is_part) check_part(name)
}
