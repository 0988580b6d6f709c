-- Only what no running transaction can come before: whatever commits later has a later place.
SELECT shard, stream, revision, kind, at, by, body, previous, hash, transaction::text, position
FROM records
WHERE (transaction, position) > ($1::text::xid8, $2) AND transaction < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY transaction, position LIMIT $3
