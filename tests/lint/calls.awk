# The law of floors for calls: an object needs symbols of its own floor or lower ones, and neither
# files nor folders need each other in a circle. A header's inline function counts for the file that
# includes it.
# A core.h that says "calls only parts above it" lists all parts of its folder, and each needs only
# symbols of those before it in the list.
# Input: the lists, src/engine/core.h: *\ttimers.c  what it does; then nm -A -P of objects that are
# named like their sources, src/base/alloc.c.o.
# Output: file:line: what; what would be right.

function folder(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : "." }

function say(file, what, right) { print file ":1: " what "; " right }

$1 ~ /\/core\.h:$/ {
	listed = folder($1)
	while (match($0, /[a-z_0-9]+\.c/)) {
		place[listed, substr($0, RSTART, RLENGTH)] = ++places
		$0 = substr($0, RSTART + RLENGTH)
	}
	has_list[listed] = 1
	next
}

{
	file = $1
	sub(/\.o:$/, "", file)
	files[file] = 1
	if ($3 == "U" || $3 == "w") needs[file, $2] = 1
	else if ($3 ~ /^[A-TV-Z]$/) definer[$2] = file
}

function edge(from, to, symbol) {
	if (from == to || (from, to) in why) return
	why[from, to] = symbol
	next_of[from] = next_of[from] to "\n"
	nodes[from] = nodes[to] = 1
}

function judge_floor(from, to, symbol,    own, other) {
	own = floor_of(folder(from))
	other = floor_of(folder(to))
	if (own >= 0 && other > own)
		say(from, "floor " own " needs " symbol " of " to ", which is on floor " other,
		    "note it in a state of its own that the higher part reads")
}

# place_of returns the place of a file in the list of `listed`, and marks it as found.
function place_of(file,    key) {
	key = listed SUBSEP substr(file, match(file, /[^\/]*$/))
	if (!(key in place)) return 0
	found[key] = 1
	return place[key]
}

function list_over(file) {
	while (file ~ /\//) if ((file = folder(file)) in has_list) return file
	return ""
}

# judge_place: calls go up in the list.
function judge_place(from, to, symbol) {
	listed = list_over(from)
	if (listed == "" || listed != list_over(to) || !place_of(from)) return
	if (place_of(from) < place_of(to))
		say(listed "/core.h", from " needs " symbol " of " to ", which stands below it",
		    "list each part below all that it calls")
}

function judge_lists(    file, key, part) {
	for (file in files)
		if ((listed = list_over(file)) != "" && !place_of(file))
			say(listed "/core.h", "does not list " file,
			    "list it below all that it calls")
	for (key in place) {
		split(key, part, SUBSEP)
		if (!(key in found)) say(part[1] "/core.h", "lists " part[2], "it is no part")
	}
}

# visit finds the strongly connected parts (Tarjan); more than one node in one is a circle.
function visit(node,    list, count, i, members, size, other) {
	seen[node] = low[node] = ++clock
	stack[++height] = node
	waits[node] = 1
	count = split(next_of[node], list, "\n")
	for (i = 1; i < count; i++) {
		other = list[i]
		if (!(other in seen)) {
			visit(other)
			if (low[other] < low[node]) low[node] = low[other]
		} else if (waits[other] && seen[other] < low[node])
			low[node] = seen[other]
	}
	if (low[node] != seen[node]) return
	do {
		other = stack[height--]
		waits[other] = 0
		part_of[other] = node
		size++
	} while (other != node)
	if (size > 1) circles[node] = size
}

# tell names for each file of a circle one symbol that it needs of another one.
function tell(    pair, ends) {
	for (pair in why) {
		split(pair, ends, SUBSEP)
		if (part_of[ends[1]] == part_of[ends[2]] && part_of[ends[1]] in circles &&
		    !(ends[1] in told)) {
			told[ends[1]] = 1
			say(ends[1], "calls in a circle of " circles[part_of[ends[1]]] \
			    ", for one " why[pair] " of " ends[2],
			    "call down, and note what concerns a higher part")
		}
	}
}

END {
	for (pair in needs) {
		split(pair, part, SUBSEP)
		if (!(part[2] in definer)) continue
		from = part[1]
		to = definer[part[2]]
		edge(from, to, part[2])
		if (floor_folder(folder(from)) != floor_folder(folder(to)))
			edge(floor_folder(folder(from)), floor_folder(folder(to)), part[2])
		judge_floor(from, to, part[2])
		judge_place(from, to, part[2])
	}
	judge_lists()
	for (node in nodes)
		if (!(node in seen)) visit(node)
	tell()
}
