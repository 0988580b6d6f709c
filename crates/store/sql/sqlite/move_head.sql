UPDATE heads SET revision = ?2, hash = ?3 WHERE stream = ?1 RETURNING shard
