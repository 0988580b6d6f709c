WITH written AS (
    INSERT INTO shelf (kind, key, body) VALUES ($1, $2, $4)
    ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body WHERE shelf.body = $3
    RETURNING key
), removed AS (
    DELETE FROM shelf WHERE kind = $5 AND key = ANY($6) AND EXISTS (SELECT 1 FROM written)
)
SELECT key FROM written
