INSERT INTO search_rows (collection, id, shard, stream, place, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (collection, id) DO UPDATE
SET shard = excluded.shard, stream = excluded.stream, place = excluded.place, digest = excluded.digest
