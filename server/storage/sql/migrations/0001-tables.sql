-- The durable data of the service. Times are Unix ms, intervals last 250 ms, booleans are 0 or 1.

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

-- The seats of viewers. `viewer` is an opaque id that is derived from the viewer's identifier.
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
-- A covering index for winner claims, because rows of quizzes are wide.
create index quizzes_of_game on quizzes (stream_id, game, number, answer);
create index quizzes_due on quizzes (close_interval) where state = 'open';

-- The primary key guarantees one answer per seat and quiz (I-3). `without rowid` stores the rows in the
-- B-tree of the key, so that SQLite counts a quiz without lookups: a million answers in 0.06 s instead
-- of 2.4 s. Inserts take about as long (21.7 s for a million in random order, 20.2 s with rowids). An
-- index on (quiz, choice) counts as fast, but inserts take 30.1 s. With 100,000 answers the count takes
-- 7 ms instead of 32 ms, and the inserts 0.47 s instead of 0.42 s.
-- PostgreSQL counts a million answers in 0.2 to 0.3 s with a bitmap scan of the key, and in 0.6 s with
-- an index scan. A key that includes the choice would not help: an index-only scan reads the heap for
-- rows that are not vacuumed yet.
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

-- Acknowledged events that are not sealed yet; sealing moves them into an interval. In PostgreSQL
-- 60,000 events in 2,400 sealings (10 minutes) leave 15 MB of dead rows without a vacuum. Sealing still
-- takes 2 ms, because index scans mark entries of dead rows.
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

-- Every interval up to `interval` is sealed, and no later one was ever served. In PostgreSQL 2,400
-- updates in 10 minutes stay in one page, because each prunes earlier row versions (13 pages while
-- another transaction is open for that long).
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
