SELECT key, body FROM shelf WHERE kind = ?1 AND key > ?2 ORDER BY key LIMIT ?3
