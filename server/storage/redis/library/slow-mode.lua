-- Turns of viewers in slowed chats (server/domains/chat/slow-mode-redis.ts): a key for each who wrote, with when.
do
  -- Values: service time now, the ms from one line to the next, and for how many ms it is remembered.
  -- Returns 0 when the turn was taken, else in how many ms it is. They go to replicas, and into no
  -- append-only file: they are soon old.
  define('fourbeat_turn', function(keys, values)
    redis.set_repl(redis.REPL_REPLICA)
    local now_ms, every_ms = tonumber(values[1]), tonumber(values[2])
    local last_ms = redis.call('GET', keys[1])
    local wait_ms = last_ms and tonumber(last_ms) + every_ms - now_ms or 0
    if wait_ms > 0 then return math.ceil(wait_ms) end
    redis.call('SET', keys[1], values[1], 'PX', values[3])
    return 0
  end)
end
