SELECT count(*) FROM documents WHERE collection = $1 AND body::json ->> $2::text IS NOT DISTINCT FROM $3::text
