SELECT count(*) FROM documents WHERE collection = ?1 AND partition IN (SELECT value FROM json_each(?2))
