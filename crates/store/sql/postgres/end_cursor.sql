SELECT transaction::text, position
FROM records WHERE transaction < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY records.transaction DESC, records.position DESC LIMIT 1
