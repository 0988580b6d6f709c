SELECT count(*) FROM documents WHERE collection = ?1 AND body ->> ?2 IS ?3
