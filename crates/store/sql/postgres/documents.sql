SELECT collection, id, rank, body, partition FROM documents
WHERE collection = $1 AND rank <= $2 AND (rank < $2 OR id > $3)
ORDER BY rank DESC, id LIMIT $4
