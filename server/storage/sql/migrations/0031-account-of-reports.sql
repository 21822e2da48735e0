-- Reports of accounts are made in turns (J-11): a claim steps from account to account in this index. A report that an
-- earlier version orders meanwhile has the account '-'.
alter table reports add column account text not null default '-';
update reports set account = coalesce((select producer from streams s where s.id = reports.stream_id), '-')
  where due is not null;
create index reports_of_account on reports (account, due) where due is not null;
