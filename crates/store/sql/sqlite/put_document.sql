INSERT INTO documents (collection, id, shard, stream, rank, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (collection, id) DO UPDATE
SET shard = excluded.shard, stream = excluded.stream, rank = excluded.rank, body = excluded.body
