-- Reports of finished shows. `due` is when a node may work on the report; while one does, it is the end
-- of `lease`; null when the report is ready. `done` is the completed share in thousandths, and `tries`
-- the number of claims since the last progress.
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

-- Whether a report of the stream is ordered. The end of a stream inserts no row, because a thousand
-- streams may end in one sealing; this index finds the ended streams that lack a report.
alter table streams add column reported smallint not null default 0;
create index streams_to_report on streams (ended) where status = 'ENDED' and reported = 0;
