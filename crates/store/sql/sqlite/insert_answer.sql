INSERT INTO commands (stream, key, shard, request, revision, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
