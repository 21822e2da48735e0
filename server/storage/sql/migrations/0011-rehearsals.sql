-- The stream that a hidden one rehearses; null: it is none of these, and may be seen.
alter table streams add column rehearsal_of text;

-- Rehearsals: a hidden stream each, with synthetic viewers that one node sends. `seen` is when that node
-- last told of them, and `ended` when it sent them home. One that is not current is being removed; its row
-- stays until no token of its stream is good any more.
create table rehearsals (
  stream_id text primary key,
  show_id text not null,
  account text not null,
  node text not null,
  settings text not null,
  figures text,
  created bigint not null,
  seen bigint not null,
  ended bigint,
  is_current smallint not null,
  removed bigint
);
create unique index one_current_rehearsal on rehearsals (show_id) where is_current = 1;
create index rehearsals_of_account on rehearsals (account);
create index rehearsals_by_created on rehearsals (created);
