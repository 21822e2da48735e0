-- How the chat of a stream goes; there is a row once somebody has moderated it. `pinned` is the line in
-- JSON. `revision` rises with whatever the pages of those who run the show read again, and `changed` is
-- the number of the last change that nodes go by: one sequence for all streams, so that a node looks at
-- one counter to learn that there is none.
create table chat_rooms (
  stream_id text primary key references streams (id),
  slow_mode_ms integer not null default 0,
  paused smallint not null default 0,
  pinned text,
  revision bigint not null default 0,
  changed bigint not null default 0
);
create index chat_rooms_by_change on chat_rooms (changed);
insert into counters (name, value) values ('moderation', 0);

-- Lines that were taken out of the chat, in the order in which they were.
create table hidden_lines (
  stream_id text not null references streams (id),
  line text not null,
  number integer not null,
  primary key (stream_id, line)
);
create index hidden_lines_in_order on hidden_lines (stream_id, number);

-- Viewers who may not write, or may not be there. `until` is null for the whole show; `member` is the
-- name of who decided it, null for a program.
create table restricted_viewers (
  stream_id text not null references streams (id),
  viewer text not null,
  kind text not null,
  seat integer not null,
  name text not null,
  until bigint,
  member text,
  at bigint not null,
  primary key (stream_id, viewer, kind)
);

-- The queue of questions; `line` is the line in JSON, and `written` when it was.
create table queued_questions (
  stream_id text not null references streams (id),
  id text not null,
  state text not null,
  line text not null,
  written bigint not null,
  member text,
  at bigint not null,
  primary key (stream_id, id)
);
