DELETE FROM documents WHERE collection = ?1 AND id = ?2
