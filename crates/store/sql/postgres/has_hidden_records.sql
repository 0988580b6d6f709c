-- Whether something was committed that followers may not see yet. The last record alone is looked at: without statistics
-- a search for such a record would go through all of them.
SELECT transaction >= pg_snapshot_xmin(pg_current_snapshot())
FROM records ORDER BY transaction DESC, position DESC LIMIT 1
