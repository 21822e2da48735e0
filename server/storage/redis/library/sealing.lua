-- The seal coordinator (server/realtime/coordination/seal-coordinator.ts describes the protocol). A loss of
-- this data loses at most the posts of the interval that is being filled.
do
  -- Keys of every function, in this order.
  local SEALING_KEYS = {
    'state', -- hash: memory, watermark, served, published, parts, bytes, claim_interval, claim_ms, timeline
    'nodes', -- hash: node → its last reported interval, when, whether it is awaited, its last batch
    'parts', -- stream: batches of posts from nodes (`append_batch`), in order, until they are sealed
    'labels', -- sorted set: interval → the last batch that belongs to it
    'watched', -- sorted set: stream id → the last interval in which its feed was read on any node
    'log', -- stream: published intervals
  }
  local INTERVAL_MS = 250
  -- Largest error of a node's estimate of this server's clock: half a round trip. If this clock is further
  -- behind a node, it was set back. Service time never goes back, so the node's report is accepted.
  local EARLY_MAX_MS = 125
  -- A node that reported within this time is live.
  local LIVE_MS = 2000
  -- A claim to seal an interval expires after this.
  local CLAIM_MS = 100
  local TTL_MS = 60000
  -- Bounds of the streams. Further batches stay with their node; earlier intervals are in the database.
  local BATCHES_MAX = 1000
  -- The node that seals collects all of them in one reply: within a silence of 250 ms, and parsed within
  -- an interval.
  local BATCH_BYTES_MAX = 4194304
  local LOG_ENTRIES_MAX = 240
  local LOG_BYTES_MAX = 67108864
  -- Nodes report active streams with each count.
  local COUNT_INTERVALS = 4
  local ARGUMENTS_MAX = 1000 -- of one call: Lua's `unpack` has a limit

  local function keys_by_name(keys)
    local named = {}
    for index, name in ipairs(SEALING_KEYS) do
      named[name] = keys[index]
    end
    return named
  end

  local function clock_ms()
    local time = redis.call('TIME')
    return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  end

  local function state_of(key, field)
    return tonumber(redis.call('HGET', key, field) or '-1')
  end

  local function timeline_of(key)
    return redis.call('HGET', key.state, 'timeline') or ''
  end

  -- Marks the streams from `args[from]` on as active in an interval.
  local function mark_active(key, interval, args, from)
    for first = from, #args, ARGUMENTS_MAX do
      local scored = {}
      for index = first, math.min(first + ARGUMENTS_MAX - 1, #args) do
        scored[#scored + 1] = interval
        scored[#scored + 1] = args[index]
      end
      redis.call('ZADD', key, 'GT', unpack(scored))
    end
  end

  local function node_of(text)
    local interval, at_ms, awaited, batch = string.match(text, '^(%-?%d+):(%d+):(%d):(%d+)$')
    return {
      interval = tonumber(interval),
      at_ms = tonumber(at_ms),
      awaited = awaited == '1',
      batch = tonumber(batch),
    }
  end

  local function save_node(key, id, node)
    local text = string.format(
      '%d:%d:%d:%d', node.interval, node.at_ms, node.awaited and 1 or 0, node.batch
    )
    redis.call('HSET', key, id, text)
  end

  -- All nodes by id. Deletes nodes without a recent report.
  local function nodes_of(key, now_ms)
    local nodes = {}
    local stored = redis.call('HGETALL', key)
    for index = 1, #stored, 2 do
      local node = node_of(stored[index + 1])
      if math.abs(now_ms - node.at_ms) > TTL_MS then
        redis.call('HDEL', key, stored[index])
      else
        nodes[stored[index]] = node
      end
    end
    return nodes
  end

  local function is_claimed(state, interval, now_ms)
    if state_of(state, 'claim_interval') < interval then return false end
    local age_ms = now_ms - state_of(state, 'claim_ms')
    return age_ms >= 0 and age_ms < CLAIM_MS
  end

  local function set_claim(state, interval, now_ms)
    redis.call('HSET', state, 'claim_interval', interval, 'claim_ms', now_ms)
  end

  -- The name of this server's data set. After a restart, a failover or a loss, data may be missing: then
  -- the name changes. Waiting batches are dropped, because they may be sealed already, and the timeline of the
  -- database is unknown until a node names it.
  local function data_set_of(key)
    local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
    local stored = redis.call('HGET', key.state, 'memory')
    if stored and string.sub(stored, 1, #run_id) == run_id then return stored end
    local time = redis.call('TIME')
    local data_set = run_id .. ':' .. time[1] .. ':' .. time[2]
    redis.call('HSET', key.state, 'memory', data_set)
    redis.call('HDEL', key.state, 'timeline')
    redis.call('DEL', key.parts, key.labels)
    return data_set
  end

  -- Bytes of the stored batches. `collect` counts them again, since nodes of an older release do not.
  local function waiting_bytes(key)
    if redis.call('EXISTS', key.parts) == 0 then redis.call('HSET', key.state, 'bytes', 0) end
    return state_of(key.state, 'bytes')
  end

  local function append_batch(key, bytes)
    local number = redis.call('HINCRBY', key.state, 'parts', 1)
    redis.call('HINCRBY', key.state, 'bytes', #bytes)
    return redis.pcall('XADD', key.parts, number .. '-0', 'p', bytes)
  end

  -- Returns 1: accepted, now or by an earlier call. 0: rejected, there is no room. 2: lost, it was sent
  -- to an earlier data set, may be sealed already and is not accepted again.
  local function accept_batch(key, node, data_set, batch)
    if batch.number == 0 then return 1 end
    if batch.is_repeat and batch.data_set ~= data_set then return 2 end
    if batch.number <= node.batch then return 1 end
    if redis.call('XLEN', key.parts) >= BATCHES_MAX then return 0 end
    if waiting_bytes(key) >= BATCH_BYTES_MAX then return 0 end
    local added = append_batch(key, batch.bytes)
    if type(added) == 'table' and added.err then
      -- Redis evicted the counter and not the batches.
      redis.call('DEL', key.parts, key.labels)
      append_batch(key, batch.bytes)
    end
    node.batch = batch.number
    return 1
  end

  -- A node reports that an interval has ended, with a batch of posts.
  -- Values: node, interval, served, can seal, data set of the batch, batch number, is repeat, batch, the newest
  -- batch that was perhaps accepted before, active streams …
  -- Returns the decision (0 early, 1 wait, 2 seal, 3 sealed), a wait in ms, the result of the batch, the
  -- name of the data set, the watermark.
  local function report(keys, args)
    local key = keys_by_name(keys)
    local id, interval, served = args[1], tonumber(args[2]), tonumber(args[3])
    local now_ms = clock_ms()
    local early_ms = (interval + 1) * INTERVAL_MS - now_ms
    if early_ms > 0 and early_ms <= EARLY_MAX_MS then return { 0, early_ms, 0, '', -1 } end
    local data_set = data_set_of(key)
    if served > state_of(key.state, 'served') then
      redis.call('HSET', key.state, 'served', served)
    end
    local nodes = nodes_of(key.nodes, now_ms)
    -- A node that was silent for `TTL_MS` is forgotten. What it repeats then may be sealed already: it counts
    -- as accepted.
    local node = nodes[id] or { batch = tonumber(args[9]) }
    local batch_result = accept_batch(key, node, data_set, {
      data_set = args[5], number = tonumber(args[6]), is_repeat = args[7] == '1', bytes = args[8],
    })
    -- A node that is late by an interval or more is not awaited until it reports in time again. A node
    -- that has just started, or was stalled for a moment, is awaited: its viewers must be counted.
    local is_sealed = state_of(key.state, 'published') >= interval
    local is_recent = now_ms < (interval + 2) * INTERVAL_MS
    node.interval, node.at_ms, node.awaited = interval, now_ms, is_recent or not is_sealed
    save_node(key.nodes, id, node)
    mark_active(key.watched, interval, args, 10)
    -- The log, too: during an outage of the database a node that starts follows it.
    for _, name in ipairs(keys) do
      redis.call('PEXPIRE', name, TTL_MS)
    end
    local watermark = math.max(
      state_of(key.state, 'watermark'), state_of(key.state, 'served')
    )
    if is_sealed then return { 3, 0, batch_result, data_set, watermark } end
    local seals = args[4] == '1' and not is_claimed(key.state, interval, now_ms)
    for _, other in pairs(nodes) do
      local is_live = other.awaited and math.abs(now_ms - other.at_ms) <= LIVE_MS
      if is_live and other.interval < interval then seals = false end
    end
    if seals then set_claim(key.state, interval, now_ms) end
    return { seals and 2 or 1, 0, batch_result, data_set, watermark }
  end

  -- Asks to seal an interval that is not published. Values: interval, whether the node has the claim and keeps it.
  -- Returns the decision as above, and a wait in ms.
  local function claim(keys, args)
    local key = keys_by_name(keys)
    local interval = tonumber(args[1])
    local now_ms = clock_ms()
    if state_of(key.state, 'published') >= interval then return { 3, 0 } end
    if args[2] == '1' then
      if state_of(key.state, 'claim_interval') == interval then set_claim(key.state, interval, now_ms) end
      return { 1, CLAIM_MS }
    end
    if is_claimed(key.state, interval, now_ms) then
      return { 1, CLAIM_MS - (now_ms - state_of(key.state, 'claim_ms')) }
    end
    -- Nodes that have not reported are not awaited until they report again.
    for id, node in pairs(nodes_of(key.nodes, now_ms)) do
      if node.interval < interval and node.awaited then
        node.awaited = false
        save_node(key.nodes, id, node)
      end
    end
    set_claim(key.state, interval, now_ms)
    redis.call('PEXPIRE', key.state, TTL_MS)
    return { 2, 0 }
  end

  local function last_batch_of(labels, interval)
    local found = redis.call('ZREVRANGEBYSCORE', labels, interval, '-inf', 'LIMIT', 0, 1)
    return found[1] and tonumber(string.match(found[1], ':(%d+)$')) or 0
  end

  -- Collects what belongs to the intervals after `after`, up to `interval`. Values: after, interval,
  -- whether to return active streams. Returns the newest interval that a node serves, batches, active streams, the
  -- timeline of the database.
  local function collect(keys, args)
    local key = keys_by_name(keys)
    local after, interval = tonumber(args[1]), tonumber(args[2])
    data_set_of(key) -- drops the batches if data may be missing
    local watermark = math.max(
      state_of(key.state, 'watermark'), state_of(key.state, 'served')
    )
    -- Batches after the last label belong to this interval. If a later interval may have been served, they
    -- stay without a label and belong to the next interval.
    if interval > watermark then
      watermark = interval
      local last = state_of(key.state, 'parts')
      if last > last_batch_of(key.labels, '+inf') then
        redis.call('ZADD', key.labels, interval, string.format('%d:%d', interval, last))
      end
    end
    redis.call('HSET', key.state, 'watermark', watermark)
    redis.call('XTRIM', key.parts, 'MINID', (last_batch_of(key.labels, after) + 1) .. '-0')
    redis.call('ZREMRANGEBYSCORE', key.labels, '-inf', after)
    local last = last_batch_of(key.labels, interval)
    local batches, bytes = {}, 0
    for _, entry in ipairs(redis.call('XRANGE', key.parts, '-', '+')) do
      local number, batch = tonumber(string.match(entry[1], '^%d+')), entry[2][2]
      bytes = bytes + #batch
      if number <= last then batches[#batches + 1] = batch end
    end
    redis.call('HSET', key.state, 'bytes', bytes)
    for _, name in ipairs({ 'state', 'parts', 'labels' }) do
      redis.call('PEXPIRE', key[name], TTL_MS)
    end
    local served = math.max(state_of(key.state, 'served'), state_of(key.state, 'published'))
    local streams = {}
    if args[3] == '1' then
      redis.call('ZREMRANGEBYSCORE', key.watched, '-inf', interval - COUNT_INTERVALS)
      streams = redis.call('ZRANGE', key.watched, 0, -1)
    end
    return { served, batches, streams, timeline_of(key) }
  end

  -- Names the timeline of the database on which nodes seal: system identifier and number, or '' when the server shows
  -- none. Values: timeline. Returns the named one, which stays when it is a later one of the same system.
  local function fence(keys, args)
    local key = keys_by_name(keys)
    data_set_of(key)
    local stored = timeline_of(key)
    local stored_system, stored_number = string.match(stored, '^(%d+):(%d+)$')
    local system, number = string.match(args[1], '^(%d+):(%d+)$')
    local is_same = system and system == stored_system
    if is_same and tonumber(number) < tonumber(stored_number) then return stored end
    redis.call('HSET', key.state, 'timeline', args[1])
    redis.call('PEXPIRE', key.state, TTL_MS)
    return args[1]
  end

  -- Publishes sealed intervals. Values: interval, bodies, the interval before the first, the timeline of the database
  -- that had them. Returns 1, or 0 when one of them is published already or nodes seal on another timeline; the
  -- newest published interval; the timeline on which nodes seal.
  local function publish(keys, args)
    local key = keys_by_name(keys)
    local interval = tonumber(args[1])
    data_set_of(key) -- forgets the timeline if data may be missing
    local published = state_of(key.state, 'published')
    local timeline = timeline_of(key)
    if timeline ~= args[4] then return { 0, published, timeline } end
    if published > tonumber(args[3]) then return { 0, published, timeline } end
    local entries = math.floor(LOG_BYTES_MAX / math.max(1, #args[2]))
    local max_entries = math.max(4, math.min(LOG_ENTRIES_MAX, entries))
    local added = redis.pcall('XADD', key.log, 'MAXLEN', max_entries, args[1] .. '-0', 'b', args[2])
    if type(added) == 'table' and added.err then
      -- Redis evicted the state and not the log, which has this interval or a later one.
      local has_later = string.match(added.err, 'equal or smaller')
      return { 0, has_later and interval or published, timeline }
    end
    redis.call('PEXPIRE', key.log, TTL_MS)
    redis.call('HSET', key.state, 'published', interval)
    redis.call('PEXPIRE', key.state, TTL_MS)
    return { 1, interval, timeline }
  end

  -- A node leaves: it is not awaited any more. Values: node.
  local function leave(keys, args)
    return redis.call('HDEL', keys_by_name(keys).nodes, args[1])
  end

  define('fourbeat_report', report)
  define('fourbeat_claim', claim)
  define('fourbeat_collect', collect)
  define('fourbeat_fence', fence)
  define('fourbeat_publish', publish)
  define('fourbeat_leave', leave)
end
