SELECT stream, shard, revision, hash FROM heads WHERE stream > $1 ORDER BY stream LIMIT $2
