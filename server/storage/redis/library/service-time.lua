-- Service time (server/realtime/coordination/shared-clock.ts). What nodes tell is soon old, and comes again.
do
  local TOLD_MS = 2500

  -- Keys: hash node → how far it was ahead of TIME, and when. Values: node, its service time or
  -- nothing. Gives how far the foremost of those that told it lately is ahead of TIME; 0: none is.
  define('fourbeat_lead', function(keys, values)
    redis.set_repl(redis.REPL_REPLICA)
    local time = redis.call('TIME')
    local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    if values[2] ~= '' then
      local told = string.format('%d:%d', tonumber(values[2]) - now_ms, now_ms)
      redis.call('HSET', keys[1], values[1], told)
      redis.call('PEXPIRE', keys[1], TOLD_MS)
    end
    local foremost_ms = 0
    local stored = redis.call('HGETALL', keys[1])
    for place = 1, #stored, 2 do
      local lead_ms, at_ms = string.match(stored[place + 1], '^(%-?%d+):(%d+)$')
      -- Either way: TIME may have been set back.
      if math.abs(now_ms - tonumber(at_ms)) > TOLD_MS then
        redis.call('HDEL', keys[1], stored[place])
      else
        foremost_ms = math.max(foremost_ms, tonumber(lead_ms))
      end
    end
    return foremost_ms
  end)
end
