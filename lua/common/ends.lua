-- ends: the keys of ended timers.
--
-- uses: base

local ENDS, UNTILS = sub(LEASE, 1, -2) .. 'E', sub(LEASE, 1, -2) .. 'x'
