SELECT collection, id, rank, body FROM documents WHERE collection = $1 AND id = $2
