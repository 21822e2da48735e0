-- Incremented by every change of a draft, so that a rundown that changes while it is read in pages is read again only
-- where it changed.
alter table quizzes add column revision integer not null default 0;
