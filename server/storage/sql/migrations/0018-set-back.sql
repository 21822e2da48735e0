-- The last interval that was sealed before service time was set back (K-7), if the stream has intervals
-- that are not over yet by the new service time; null: service time was never set back for this stream.
alter table streams add column sealed_until bigint;
create index streams_sealed_ahead on streams (sealed_until) where sealed_until is not null;
