-- The streams of an account that have a source are counted when a further source opens (M-35).
create index streams_with_source on streams (producer) where source is not null;
