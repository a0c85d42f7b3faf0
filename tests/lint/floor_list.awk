# The floors from the lowest one up, each with its folders; rooms of a folder, and folders without a
# floor, are left out. Input: folders of src, sorted.
{
	floor = floor_of($0)
	if (floor < 0 || floor_folder($0) != $0) next
	sub(/^src\//, "")
	folders[floor] = folders[floor] " " $0
	if (floor > top) top = floor
}
END {
	for (floor = 0; floor <= top; floor++)
		if (floor in folders) print "F" floor " " folders[floor]
}
