INSERT INTO snapshot_parts (stream, mark, part, shard, revision, body) VALUES ($1, $2, $3, $4, $5, $6)
