DELETE FROM snapshots
