INSERT INTO heads (stream, shard, revision, hash) VALUES (?1, ?2, ?3, ?4)
