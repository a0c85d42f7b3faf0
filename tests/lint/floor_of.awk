# floor_folder: a floor may have rooms, folders for its reader: src/engine/due is in src/engine. The
# command is one house: src/cli with its rooms, and src/web.
function floor_folder(dir) {
	if (dir ~ /^src\/(engine|store\/(redis|sqlite)|cli)\//) sub(/\/[^\/]*$/, "", dir)
	return dir == "src/web" ? "src/cli" : dir
}

# floor_of: the floor of a folder, -1 for one that has none.
function floor_of(dir) {
	dir = floor_folder(dir)
	if (dir == "src/base") return 0
	if (dir ~ /^src\/(calendar|timer|topic|wheel)$/) return 1
	if (dir == "src/port" || dir == "src/redis") return 2
	if (dir == "src/loop" || dir ~ /^src\/store(\/(memory|sqlite|redis|fallback))?$/) return 3
	if (dir == "src/engine") return 4
	if (dir == "src/handle") return 5
	return -1
}
