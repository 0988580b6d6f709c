SELECT count(*) FROM documents WHERE collection = $1 AND partition = ANY ($2::text[])
