SELECT collection, id, rank, body, partition FROM documents
WHERE stream = $1 AND (collection, id) > ($2, $3)
ORDER BY collection, id LIMIT $4
