-- Only if all other parts are there, and nothing newer is. Parts of the snapshot before it and of older ones go. Those of
-- one with the same revision stay: another node may have just kept it.
WITH before AS (
    SELECT mark FROM snapshots WHERE stream = $1
), kept AS (
    INSERT INTO snapshots (stream, shard, version, revision, hash, mark, parts, body, digest)
    SELECT $1, $2::integer, $3::integer, $4, $5::bytea, $6, $7::integer, $8::text, $9::bytea
    WHERE (SELECT count(*) FROM snapshot_parts WHERE stream = $1 AND mark = $6) = $7 - 1
    ON CONFLICT (stream) DO UPDATE
    SET version = excluded.version, revision = excluded.revision, hash = excluded.hash, mark = excluded.mark,
        parts = excluded.parts, body = excluded.body, digest = excluded.digest
    WHERE snapshots.revision <= excluded.revision
    RETURNING mark
)
DELETE FROM snapshot_parts
WHERE stream = $1 AND mark <> $6 AND (revision < $4 OR mark IN (SELECT mark FROM before))
    AND EXISTS (SELECT 1 FROM kept)
