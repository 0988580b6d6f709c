INSERT INTO shelf (kind, key, body) VALUES (?1, ?2, ?4)
ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body WHERE shelf.body = ?3
