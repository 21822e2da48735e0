-- The clean-up searches finished deliveries without a step over pending ones, whose `due` SQLite stores after the body.
-- With `due` the index has all that the search reads.
create index deliveries_finished on deliveries (webhook, created, id, due) where due is null;
