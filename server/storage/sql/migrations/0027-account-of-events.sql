-- A dispatch steps from account to account in the index of the event log (H-26). Events that an earlier version logs
-- have the account '-', which is not empty, because steps begin after ''. The last migration, because it keeps
-- sealings of other nodes out of the log until the commit.
alter table happenings add column account text not null default '-';
create index happenings_of_account on happenings (account, at, type, key);
