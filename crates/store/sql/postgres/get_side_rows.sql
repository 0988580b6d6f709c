SELECT key, body FROM shelf WHERE kind = $1 AND key = ANY($2)
