SELECT key, request, revision, answer FROM commands WHERE stream = $1 AND key = ANY ($2::text[])
