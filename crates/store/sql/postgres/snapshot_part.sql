SELECT body FROM snapshot_parts WHERE stream = $1 AND mark = $2 AND part = $3 AND revision = $4
