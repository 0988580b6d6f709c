INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash, answer)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
