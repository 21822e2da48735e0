-- The place of a quiz in its stream's rundown: at first its number. Drafts exchange theirs.
alter table quizzes add column position integer not null default 0;
update quizzes set position = number;
-- Rises with every change of the rundown, so that whoever has seen it knows whether it is still so.
alter table streams add column rundown_revision integer not null default 0;
