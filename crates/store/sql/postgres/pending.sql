-- Whether something was committed that followers may not see yet.
SELECT EXISTS (SELECT 1 FROM records WHERE transaction >= pg_snapshot_xmin(pg_current_snapshot()))
