-- The position of a quiz in the rundown of its stream; initially its number. Reordering exchanges the
-- positions of drafts.
alter table quizzes add column position integer not null default 0;
update quizzes set position = number;
-- Incremented by every change of the rundown, so that clients detect concurrent changes.
alter table streams add column rundown_revision integer not null default 0;
