# The law of floors: a file includes only its own floor or lower ones, and nothing in circles.
# Input: lines of strip.awk, file names relative to the root of the project.

function say(what, right) { print file ":" line ": " what "; " right }

function folder(path) { sub(/\/[^\/]*$/, "", path); return path }

function judge_public(name) {
	if (name !~ /^durawheel\//)
		say("public header includes \"" name "\"",
		    "a public header includes only public headers (durawheel/...) and the system's")
}

function judge_command(name) {
	if (name !~ /^(cli|web)\// &&
	    name !~ /^durawheel\/(durawheel|ended|error|facts|journal|members)\.h$/ &&
	    name !~ /^durawheel\/(metrics|select|topic|why)\.h$/)
		say("the command includes \"" name "\"",
		    "src/cli uses only durawheel/durawheel.h, ended.h, error.h, facts.h, " \
		    "journal.h, members.h, metrics.h, select.h, topic.h, why.h, " \
		    "cli/... and web/...")
}

function judge_floor(name,    own, other, target) {
	if (name ~ /^durawheel\//) return
	target = "src/" folder(name)
	own = floor_of(folder(file))
	other = floor_of(target)
	if (own < 0)
		say("a folder without a floor",
		    "give " folder(file) " one, in floor_of.awk and in src/README.md")
	else if (other < 0)
		say("includes \"" name "\", which is on no floor",
		    "name it floor/file.h, as seen from src")
	else if (other > own)
		say("floor " own " includes floor " other " (\"" name "\")",
		    "a file includes only its own floor or lower ones")
}

# The arrows that circles are looked for in: between files, and between folders.
function arrow(name,    from, to) {
	to = name ~ /^durawheel\// ? "include/" name : "src/" name
	edge(file, to)
	from = floor_folder(folder(file))
	if (from != floor_folder(folder(to)) && file ~ /^src/ && to ~ /^src/)
		edge(from, floor_folder(folder(to)))
}

function edge(from, to) {
	if ((from, to) in where) return
	where[from, to] = file ":" line
	next_of[from] = next_of[from] to "\n"
	nodes[from] = 1
}

# visit goes depth first; an arrow to a node on the way there closes a circle.
function visit(node,    list, count, i) {
	colour[node] = 1
	count = split(next_of[node], list, "\n")
	for (i = 1; i < count; i++) {
		if (colour[list[i]] == 1)
			print where[node, list[i]] ": " node " and " list[i] \
			    " include each other in a circle; move what both need to a lower place"
		else if (!colour[list[i]])
			visit(list[i])
	}
	colour[node] = 2
}

{
	if (!match($0, /:[0-9]+:[ \t]*#[ \t]*include[ \t]*"/)) next
	file = substr($0, 1, RSTART - 1)
	line = substr($0, RSTART + 1) + 0
	name = substr($0, RSTART + RLENGTH)
	sub(/".*/, "", name)
	if (file ~ /^include\//) judge_public(name)
	else if (file ~ /^src\/(cli|web)\//) judge_command(name)
	else judge_floor(name)
	arrow(name)
}

END {
	for (node in nodes)
		if (!colour[node]) visit(node)
}
