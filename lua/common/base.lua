-- base: defines short names and the codes of an answer, which most scripts use.
--
-- A script reads and computes everything before its first write, because Redis does not undo the
-- writes of a failed script. The scripts follow the rules for a timer's life in
-- src/timer/transition.c exactly.
local call, pack, words_of = redis.call, struct.pack, struct.unpack
local insert, sub = table.insert, string.sub
local EEXIST, ENOENT, STALE, LATE, CORRUPT, TORN, NEWER, WAIT = 1, 2, 3, 4, 5, 6, 7, 8
local PAUSED = 9

-- write calls a command with these words. Without words it does nothing.
local function write(command, key, words)
	if words[1] then
		call(command, key, unpack(words))
	end
end
