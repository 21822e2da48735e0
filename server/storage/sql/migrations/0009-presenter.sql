-- Presenter keys, at most one for each stream. `hash` is the SHA-256 of the key.
create table presenter_keys (
  stream_id text primary key references streams (id),
  hash text not null unique,
  created bigint not null
);
