-- The stream that a hidden stream rehearses; null for streams that are not rehearsals.
alter table streams add column rehearsal_of text;

-- Rehearsals: hidden streams with simulated viewers, which one node runs. `seen` is the time of that
-- node's last report, and `ended` when it ended the viewers. The data of a rehearsal that is not current
-- is being removed; its row stays until all tokens of its stream have expired.
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
