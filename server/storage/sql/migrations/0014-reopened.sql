-- When the end of a stream was last taken back, Unix ms; null: never. The addresses of its live
-- playlists contain it: a playlist that has ended may not go on (RFC 8216, 6.2.1).
alter table streams add column reopened bigint;
