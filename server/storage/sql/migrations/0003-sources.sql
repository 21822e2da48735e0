-- What sends a stream's video. Whoever has the key may be the source; `source` is the session that is
-- it. Its times are by the clock of leases, which stands still while sealing does: `source_seen` is
-- when it was last heard of, and at `source_ends_at` the stream ends unless it is heard of before.
alter table streams add column recording smallint not null default 0;
alter table streams add column ingest_key text;
alter table streams add column source text;
alter table streams add column source_kind text;
alter table streams add column source_seen bigint;
alter table streams add column source_ends_at bigint;
alter table streams add column source_health text;
-- Partial, so that PostgreSQL does not take it for a key that other tables might refer to: a change
-- of it waits for no viewer who takes a seat.
create unique index streams_by_ingest_key on streams (ingest_key) where ingest_key is not null;
create index streams_left_by_source on streams (source_ends_at)
where status = 'STREAMING' and source_ends_at is not null;

-- How long sealing stood still altogether, in ms: what the clock of leases is behind service time.
alter table watermark add column standstill_ms bigint not null default 0;
