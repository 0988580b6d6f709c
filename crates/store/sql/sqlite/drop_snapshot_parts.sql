DELETE FROM snapshot_parts
