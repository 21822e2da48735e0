-- What the realtime backend does in Redis: the files of this folder are one library of functions, which
-- library.ts loads. Each keeps its own names in a block.
--
-- `define(name, callback)` is given by the loading. It registers the function under its name and
-- the version of this text, so that nodes of two releases find each their own beside the other's.
-- Keys that a function is given share one hash tag, and all that it writes has a time to live.
-- TIME runs on while a function does: read it once.

-- Nothing, by a function that may write: it succeeds on a server that takes writes, and only there.
define('fourbeat_probe', function()
  return 1
end)
