-- The state of moderated chats; the row is created by the first change. `pinned` is the pinned message
-- in JSON. `revision` is incremented by every change that studio pages must reload. `changed` numbers
-- the last change that nodes must reload: one sequence for all streams, so that a node detects changes
-- by reading one counter.
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

-- Ids of hidden chat messages. `number` is the order in which they were hidden.
create table hidden_lines (
  stream_id text not null references streams (id),
  line text not null,
  number integer not null,
  primary key (stream_id, line)
);
create index hidden_lines_in_order on hidden_lines (stream_id, number);

-- Muted and banned viewers, by `kind`. `until` is null for the whole show; `member` is the name of the
-- member who decided, null for a program.
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

-- The question queue. `line` is the chat message in JSON, and `written` the time of its post.
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
