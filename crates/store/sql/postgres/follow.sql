-- Only what no running transaction can come before: whatever commits later has a later place. The order names its table,
-- since the bare name is the text that is selected, and as text 10001 comes before 9975.
SELECT shard, stream, revision, kind, at, by, body, previous, hash, answer, transaction::text, position
FROM records
WHERE (transaction, position) > ($1::text::xid8, $2) AND transaction < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY records.transaction, records.position LIMIT $3
