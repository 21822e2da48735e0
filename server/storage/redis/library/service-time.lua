-- Service time (server/realtime/coordination/shared-clock.ts). Nodes publish theirs every second; entries
-- expire soon.
do
  local ENTRY_TTL_MS = 2500

  -- Publishes a node's service time and reads the maximum. Keys: hash of node → lead over TIME, and
  -- when it was published. Values: node, its service time or ''. Returns the largest recent lead over
  -- TIME in ms, which may be negative; nil when no node has published.
  define('fourbeat_lead', function(keys, values)
    redis.set_repl(redis.REPL_REPLICA)
    local time = redis.call('TIME')
    local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    if values[2] ~= '' then
      local entry = string.format('%d:%d', tonumber(values[2]) - now_ms, now_ms)
      redis.call('HSET', keys[1], values[1], entry)
      redis.call('PEXPIRE', keys[1], ENTRY_TTL_MS)
    end
    local foremost_ms = nil
    local stored = redis.call('HGETALL', keys[1])
    for index = 1, #stored, 2 do
      local lead_ms, at_ms = string.match(stored[index + 1], '^(%-?%d+):(%d+)$')
      -- In both directions: TIME may have been set back.
      if math.abs(now_ms - tonumber(at_ms)) > ENTRY_TTL_MS then
        redis.call('HDEL', keys[1], stored[index])
      else
        foremost_ms = math.max(foremost_ms or tonumber(lead_ms), tonumber(lead_ms))
      end
    end
    return foremost_ms
  end)
end
