-- What opens the presenter view of a stream: one key each, by its SHA-256.
create table presenter_keys (
  stream_id text primary key references streams (id),
  hash text not null unique,
  created bigint not null
);
