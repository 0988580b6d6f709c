SELECT collection, id, rank, body, partition FROM documents WHERE collection = ?1 AND id = ?2
