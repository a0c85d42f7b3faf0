-- leave: how a script ends that gives versions. It has changed something.
--
-- uses: base begin digits owner version

-- leave: news: scores and ids for the inbox.
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
