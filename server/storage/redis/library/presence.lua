-- Presence (server/realtime/presence/presence-commands.ts). Bitsets of seats, with one key per block of
-- a stream and interval. Each node merges its own bitsets into them. They expire soon, and nodes send
-- them again after a loss: they go to replicas, and not to the append-only file.
do
  local PRESENCE_MS = 5000

  local function add_list(key, list)
    for offset in string.gmatch(list, '%d+') do
      redis.call('SETBIT', key, offset, 1)
    end
    redis.call('PEXPIRE', key, PRESENCE_MS)
  end

  local function add_bits(scratch, key, bits)
    if redis.call('EXISTS', key) == 0 then
      redis.call('SET', key, bits, 'PX', PRESENCE_MS)
      return
    end
    redis.call('SET', scratch, bits, 'PX', PRESENCE_MS)
    redis.call('BITOP', 'OR', key, key, scratch)
    redis.call('DEL', scratch)
    redis.call('PEXPIRE', key, PRESENCE_MS)
  end

  -- Merges seats into bitsets. Keys: a scratch key, the bitsets, and optionally one more bitset. Values:
  -- encoding and seats for each bitset. Returns 0 if an additional bitset is named and missing, else 1.
  define('fourbeat_hand_in', function(keys, values)
    redis.set_repl(redis.REPL_REPLICA)
    local additional = keys[#values / 2 + 2]
    local is_present = additional and redis.call('EXISTS', additional) or 1
    for at = 1, #values, 2 do
      local key = keys[(at + 1) / 2 + 1]
      if values[at] == 'list' then
        add_list(key, values[at + 1])
      else
        add_bits(keys[1], key, values[at + 1])
      end
    end
    return is_present
  end)

  -- Removes seats from bitsets. Keys: an unused key, and the bitsets. Values: bit offsets of the seats.
  define('fourbeat_expel', function(keys, values)
    redis.set_repl(redis.REPL_REPLICA)
    for at = 2, #keys do
      if redis.call('EXISTS', keys[at]) == 1 then
        for _, offset in ipairs(values) do
          redis.call('SETBIT', keys[at], offset, 0)
        end
      end
    end
    return #values
  end)

  -- Runs a command on the union of bitsets. Keys: a scratch key, and the bitsets.
  local function run_on_union(keys, command)
    redis.set_repl(redis.REPL_NONE)
    redis.call('BITOP', 'OR', keys[1], unpack(keys, 2))
    local reply = redis.call(command, keys[1])
    redis.call('DEL', keys[1])
    return reply
  end

  define('fourbeat_count', function(keys)
    return run_on_union(keys, 'BITCOUNT')
  end)

  define('fourbeat_unite', function(keys)
    return run_on_union(keys, 'GET') or ''
  end)

  -- Active blocks, scored by their newest interval. Counts, one per second, look back over two seconds;
  -- older blocks are dropped.
  local PRESENT_INTERVALS = 12
  local FURTHER_BLOCKS = 15

  -- Adds blocks. Values: the current interval, then interval and block for each. Returns 1 if the list
  -- existed before, else 0.
  define('fourbeat_announce', function(keys, values)
    redis.set_repl(redis.REPL_REPLICA)
    local listed = redis.call('EXISTS', keys[1])
    for at = 2, #values, 2 do
      redis.call('ZADD', keys[1], 'GT', values[at], values[at + 1])
    end
    redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', values[1] - PRESENT_INTERVALS)
    redis.call('PEXPIRE', keys[1], PRESENCE_MS)
    return listed
  end)

  -- Lists the blocks whose newest interval is at least the first value.
  define('fourbeat_announced', function(keys, values)
    return redis.call('ZRANGE', keys[1], values[1], '+inf', 'BYSCORE')
  end)

  -- Lists the active blocks of the stream in the first value, without block 0.
  define('fourbeat_further_blocks', function(keys, values)
    local blocks = {}
    for block = 1, FURTHER_BLOCKS do
      if redis.call('ZSCORE', keys[1], values[1] .. ':' .. block) then
        blocks[#blocks + 1] = block
      end
    end
    return blocks
  end)
end
