SELECT shard, stream, revision, kind, at, by, body, previous, hash, answer, position
FROM records WHERE position > ?1 ORDER BY position LIMIT ?2
