-- Reports of shows that are over. `due` is when to go on with one: while a node is at work on it, when
-- its `lease` ends; null once it is ready. `done` is in thousandths, and `tries` how often it was taken
-- up since it last got on.
create table reports (
  stream_id text primary key,
  due bigint,
  lease text,
  tries integer not null default 0,
  done integer not null default 0,
  progress text,
  report text
);
create index reports_due on reports (due) where due is not null;

-- Whether a stream has a row there, so that those that ended and have none are found at once: a stream
-- that ends makes nothing, as a thousand may end in one sealing.
alter table streams add column reported smallint not null default 0;
create index streams_to_report on streams (ended) where status = 'ENDED' and reported = 0;
