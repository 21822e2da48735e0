-- The JSON of a report in parts of some quizzes: the largest has 40 MB, which as one text took the event loop 0.5 s.
-- Without a reference to streams, so that a part takes no lock on one. `made` (Unix ms) is that of the report: a
-- reopened stream gets another one, whose parts replace these.
create table report_parts (
  stream_id text not null,
  part integer not null,
  made bigint not null,
  text text not null,
  primary key (stream_id, part)
);
-- The number of parts; null while the report is not ready, and for one that an earlier version stored in `report`.
alter table reports add column parts integer;
-- Incremented by every change of a draft, so that a rundown that changes while it is read in pages is read again only
-- where it changed.
alter table quizzes add column revision integer not null default 0;
-- Large reports are made again, in parts. What they are made of is kept.
update reports set report = null, due = 0, done = 0, tries = 0 where octet_length(report) > 1000000;
