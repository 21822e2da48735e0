-- The source that sends a stream's video. `ingest_key` authorizes a source; `source` is the session of
-- the current one. Times are those of the lease clock, which stands still while sealing is stalled:
-- `source_seen` is the last renewal of the lease, and at `source_ends_at` the stream ends unless the
-- lease is renewed before.
alter table streams add column recording smallint not null default 0;
alter table streams add column ingest_key text;
alter table streams add column source text;
alter table streams add column source_kind text;
alter table streams add column source_seen bigint;
alter table streams add column source_ends_at bigint;
alter table streams add column source_health text;
-- A partial index is no key that foreign keys can refer to. An update of `ingest_key` therefore takes a
-- row lock that does not wait for viewers whose seats reference the stream.
create unique index streams_by_ingest_key on streams (ingest_key) where ingest_key is not null;
create index streams_left_by_source on streams (source_ends_at)
where status = 'STREAMING' and source_ends_at is not null;

-- Total time in which sealing was stalled, in ms: the lag of the lease clock behind service time.
alter table watermark add column standstill_ms bigint not null default 0;
