UPDATE heads SET revision = ?4, hash = ?5 WHERE stream = ?1 AND revision = ?2 AND hash = ?3 RETURNING shard
