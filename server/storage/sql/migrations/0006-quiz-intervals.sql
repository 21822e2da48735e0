-- The sealed interval with the quiz event. The stream detail names it while the quiz is open (S-17).
alter table quizzes add column told_interval bigint;
create index quizzes_told on quizzes (stream_id, told_interval) where state = 'open';
