-- leave: ends a script that assigns versions and has changed something.
--
-- uses: base begin digits owner version

-- leave stores the operation number and the last version. It puts `news`, which are scores and ids,
-- into the inbox. For a client it also wakes the owner.
local function leave(news)
	if last ~= first then
		use_up('ver', digits(last))
	else
		use_up()
	end
	if news[1] then
		call('ZADD', INBOX, unpack(news))
		if not owner and ARGV[6] ~= '' then
			call('PUBLISH', ARGV[6], shard())
		end
	end
end
