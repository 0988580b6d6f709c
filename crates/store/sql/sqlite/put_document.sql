INSERT INTO documents (collection, id, shard, stream, rank, body, partition) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (collection, id) DO UPDATE
SET shard = excluded.shard, stream = excluded.stream, rank = excluded.rank, body = excluded.body,
    partition = excluded.partition
