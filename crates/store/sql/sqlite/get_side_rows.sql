SELECT key, body FROM shelf WHERE kind = ?1 AND key IN (SELECT value FROM json_each(?2))
