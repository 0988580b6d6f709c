SELECT key, request, revision, answer FROM commands WHERE stream = $1 AND key > $2 ORDER BY key LIMIT $3
