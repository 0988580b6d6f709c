-- Only if all other parts are there, and nothing newer is.
INSERT INTO snapshots (stream, shard, version, revision, hash, mark, parts, body, digest)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
WHERE (SELECT count(*) FROM snapshot_parts WHERE stream = ?1 AND mark = ?6) = ?7 - 1
ON CONFLICT (stream) DO UPDATE
SET version = excluded.version, revision = excluded.revision, hash = excluded.hash, mark = excluded.mark,
    parts = excluded.parts, body = excluded.body, digest = excluded.digest
WHERE snapshots.revision <= excluded.revision
