-- names: the keys of a table, sorted. The order of pairs() may be another one on each server.
local function names_in(set)
	local names = {}
	for name in pairs(set) do
		table.insert(names, name)
	end
	table.sort(names)
	return names
end
