SELECT shard, stream, revision, kind, at, by, body, previous, hash, answer
FROM records WHERE stream = $1 AND revision > $2 ORDER BY revision LIMIT $3
