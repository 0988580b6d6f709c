SELECT s.kind, s.key, s.body FROM unnest($1::text[], $2::text[]) AS w (kind, key)
JOIN shelf AS s ON s.kind = w.kind AND s.key = w.key
