-- The record: what must never be lost. Times are Unix ms, intervals are 250 ms, booleans 0 or 1.

create table accounts (
  uuid text primary key,
  email text not null unique,
  name text not null,
  created bigint not null
);

create table api_tokens (
  id text primary key,
  number bigint not null,
  account text not null references accounts (uuid),
  name text not null,
  prefix text not null,
  hash text not null unique,
  created bigint not null,
  last_used bigint
);
create index api_tokens_of_account on api_tokens (account, number);

create table streams (
  id text primary key,
  number bigint not null,
  producer text not null references accounts (uuid),
  title text not null,
  dash_url text,
  hls_url text,
  unlisted smallint not null,
  latency_allowance_ms integer not null,
  status text not null,
  created bigint not null,
  started bigint,
  ended bigint,
  ends_at bigint,
  game integer not null default 0,
  next_seat integer not null default 0,
  next_event bigint not null default 0
);
create index streams_of_producer on streams (producer, number);
create index streams_due on streams (ends_at) where ends_at is not null;

-- A viewer of a stream is a seat; the viewer is an opaque id, never the identifier itself.
create table seats (
  stream_id text not null references streams (id),
  viewer text not null,
  seat integer not null,
  primary key (stream_id, viewer)
);
create unique index seats_by_number on seats (stream_id, seat);

create table secrets (
  name text primary key,
  value text not null
);

create table signing_keys (
  kid text primary key,
  private_jwk text not null,
  created bigint not null,
  active_from bigint not null,
  retires bigint
);

create table counters (
  name text primary key,
  value bigint not null
);
insert into counters (name, value) values ('api-token', 0), ('stream', 0), ('quiz', 0), ('round', 0);

create table quizzes (
  id text primary key,
  number integer not null unique,
  stream_id text not null references streams (id),
  state text not null,
  question text not null,
  choices text not null,
  answer smallint not null,
  duration_ms integer not null,
  reveal text not null,
  created bigint,
  close_interval bigint,
  game integer,
  counts text
);
create index quizzes_of_stream on quizzes (stream_id, number);
-- Holds all that a winner's claim needs of a quiz, whose row is wide.
create index quizzes_of_game on quizzes (stream_id, game, number, answer);
create index quizzes_due on quizzes (close_interval) where state = 'open';

-- The primary key is the rule: one seat, one answer per quiz. In SQLite the rows are in the tree of
-- that key, so that counting a quiz looks nothing up: a million answers are counted in 0.06 s, not
-- in 2.4 s, and recorded as fast (21.7 s, in random order; 20.2 s with rowids). An index on
-- (quiz, choice) counts as fast, and makes recording half as slow again (30.1 s). Of 100,000
-- answers the count takes 7 ms, not 32, and recording 0.47 s, not 0.42 s.
-- PostgreSQL counts a million in 0.2 to 0.3 s, by a bitmap of that key and the pages of the rows,
-- which it reads in their order; by the key alone it is 0.6 s. A key that includes the choice would
-- not help: rows that are as new as these are looked up all the same.
create table answers (
  quiz integer not null,
  seat integer not null,
  choice smallint not null,
  received bigint not null,
  primary key (quiz, seat)
) /* sqlite: without rowid */;

create table winners_rounds (
  id text primary key,
  number integer not null unique,
  stream_id text not null references streams (id),
  game integer not null,
  quizzes integer not null,
  state text not null,
  requested bigint not null,
  due_interval bigint,
  count integer
);
create unique index one_open_round on winners_rounds (stream_id) where state = 'open';
create index winners_rounds_due on winners_rounds (due_interval) where state = 'open';
create index winners_rounds_of_stream on winners_rounds (stream_id, number);

create table winners (
  round integer not null,
  seat integer not null,
  received bigint not null,
  primary key (round, seat)
);

-- Events that were acknowledged and wait for their interval; sealing moves them into it. In
-- PostgreSQL 60,000 of them in 2,400 sealings (10 minutes) leave 15 MB without any vacuum, and
-- sealing takes 2 ms as before: the index forgets what is dead.
create table outbox (
  stream_id text not null,
  number bigint not null,
  type text not null,
  data text not null,
  primary key (stream_id, number)
);

create table sealed_intervals (
  stream_id text not null,
  interval bigint not null,
  body text not null,
  primary key (stream_id, interval)
);

-- Every interval up to here is sealed, and none after it was ever served. Its 2,400 updates in 10
-- minutes stay in one page of PostgreSQL, since each cleans up after those before (13 pages beside
-- a transaction that lasts as long).
create table watermark (
  id smallint primary key check (id = 1),
  interval bigint not null
);
insert into watermark (id, interval) values (1, -1);

create table idempotency_keys (
  owner text not null,
  key text not null,
  fingerprint text not null,
  output text not null,
  created bigint not null,
  primary key (owner, key)
);
create index idempotency_keys_by_age on idempotency_keys (created);
