-- As move_head, for a stream whose shard is known: answering it would cost more than moving the head.
UPDATE heads SET revision = ?4, hash = ?5 WHERE stream = ?1 AND revision = ?2 AND hash = ?3 AND shard = ?6
