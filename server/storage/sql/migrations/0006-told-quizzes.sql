-- The interval that told a quiz: whoever comes while it is open is told of it.
alter table quizzes add column told_interval bigint;
create index quizzes_told on quizzes (stream_id, told_interval) where state = 'open';
