-- names: returns the keys of a table, sorted. The order of pairs() may differ between servers.
local function names_in(set)
	local names = {}
	for name in pairs(set) do
		table.insert(names, name)
	end
	table.sort(names)
	return names
end
