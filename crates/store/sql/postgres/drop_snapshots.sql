WITH parts AS (DELETE FROM snapshot_parts) DELETE FROM snapshots
