SELECT count(*) FROM documents WHERE collection = ?1
