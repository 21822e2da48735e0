-- Each claim counts the leases of a webhook, beside which 10,000 retries may wait (H-16, H-20).
create index deliveries_leased on deliveries (webhook) where lease is not null;
