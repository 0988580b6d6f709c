SELECT collection, id, rank, body FROM documents WHERE collection = $1 ORDER BY rank DESC, id LIMIT $2
