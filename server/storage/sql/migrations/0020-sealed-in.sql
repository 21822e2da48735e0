-- The data set of the seal coordinator (Redis) whose nodes sealed the watermark; null: a single process did.
alter table watermark add column sealed_in text;
