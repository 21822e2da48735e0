-- `auto_start`: the stream starts with its first source; otherwise the source is a preview until the
-- producer starts the stream. Streams from before this column start with their source. `keep_open`: the
-- stream does not end when its source leaves.
alter table streams add column auto_start smallint not null default 1;
alter table streams add column keep_open smallint not null default 0;
