-- A shard at a moment: what is left in it, what it has for others, and what it knows of theirs; and how far its server's replicas are.
--
-- Input    KEYS[1] <frontier>:sent, <frontier>:applied
--          KEYS[2] counts, KEYS[7] record: that of the home says whether start() has ended, and until when somebody brings requests
--          from outside, see members/adopt.lua
--          ARGV[2] "1" when it is to be noted, and told, that it has nothing for others
-- Output   {replid, time (ms), offset, offset of the replica that is furthest, without one "", or 0 where one must be near for writes
--          (min-replicas-to-write), {waiting, delayed, leased}, sent: shard, spans, …;
--          applied: sender, epochs, …, run that it was told of or "", 1 when start() has ended and nobody brings anything}
local counts = redis.call('HMGET', KEYS[2], 'waiting', 'delayed', 'leased')
local run, startEnded, bringsUntil = unpack(redis.call('HMGET', KEYS[7], 'run', 'startEnded', 'bringsUntil'))
if arg() == '1' and tonumber(redis.call('HGET', KEYS[2], 'outbox') or 0) == 0 then
  -- A first write that Redis never refuses, see buckets/begin.lua.
  redis.call('HDEL', KEYS[2], '')
  redis.call('HSET', KEYS[2], 'still', 1)
  redis.call('PUBLISH', KEYS[1] .. ':rests', '')
end
local info = redis.call('INFO', 'replication')
-- So replidOf does not ask once more.
replid = string.match(info, 'master_replid:(%w+)')
local replica = string.find(info, 'min_slaves_good_slaves:0', 1, true) and 0 or ''
for offset in string.gmatch(info, 'slave%d+:[^\r\n]*state=online,offset=(%d+)') do
  replica = math.max(replica == '' and 0 or replica, tonumber(offset))
end
return {
  replidOf(), now, tonumber(string.match(info, 'master_repl_offset:(%d+)')), replica,
  { tonumber(counts[1] or 0), tonumber(counts[2] or 0), tonumber(counts[3] or 0) },
  redis.call('HGETALL', KEYS[1] .. ':sent'), redis.call('HGETALL', KEYS[1] .. ':applied'), run or '',
  startEnded == '1' and tonumber(bringsUntil or 0) <= now and 1 or 0,
}
