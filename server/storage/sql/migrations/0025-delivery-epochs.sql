-- `epoch` of a webhook: how often it was disabled. A delivery that waits since an earlier epoch has failed (H-15).
-- So disabling a webhook writes none of its 10,000 waiting deliveries; the clean-up writes them later.
alter table webhooks add column epoch integer not null default 0;
alter table deliveries add column epoch integer not null default 0;
drop index deliveries_waiting;
create index deliveries_waiting on deliveries (webhook, epoch, due) where due is not null;
