-- A dispatch steps from account to account in the index of the event log (H-26). Events that an earlier version logs
-- have the account '-': steps begin after ''. The last migration of its version, because its lock keeps sealings of
-- other nodes waiting until the commit.
alter table happenings add column account text not null default '-';
create index happenings_of_account on happenings (account, at, type, key);
