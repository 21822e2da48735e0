-- Slow mode of chats (server/domains/chat/slow-mode-redis.ts): a key per viewer, with the time of the last
-- message.
do
  -- Values: service time, the least time between two messages and the time to live of the key, in ms.
  -- Returns 0 when the message is allowed, else how long to wait in ms. Keys go to replicas, and not to
  -- the append-only file: they expire soon.
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
