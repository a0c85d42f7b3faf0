return redis.call('ZCARD', KEYS[3])
