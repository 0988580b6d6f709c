INSERT INTO shelf (kind, key, body) VALUES (?1, ?2, ?3)
ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body
