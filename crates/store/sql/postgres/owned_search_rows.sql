SELECT collection, id, partition, serial, class, digest, words_hash = sha256(convert_to(words::text, 'UTF8'))
FROM search_rows
WHERE stream = $1 AND (collection, id) > ($2, $3)
ORDER BY collection, id LIMIT $4
