INSERT INTO snapshots (stream, shard, version, revision, hash, body) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (stream) DO UPDATE
SET version = excluded.version, revision = excluded.revision, hash = excluded.hash, body = excluded.body
