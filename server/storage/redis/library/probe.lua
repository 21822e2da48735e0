-- The files of this folder are one library of Redis functions, which library.ts loads. Each file keeps
-- its local names in a block.
--
-- library.ts provides `define(name, callback)`. It registers the function under its name and the version
-- of this text, so that nodes of two releases each find their own. The keys of a call share one hash
-- tag, and every key that is written has a time to live. TIME advances while a function runs: read it
-- once.

-- Does nothing, and may write: it succeeds only on a server that accepts writes.
define('fourbeat_probe', function()
  return 1
end)
