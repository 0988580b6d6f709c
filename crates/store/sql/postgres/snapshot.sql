SELECT version, revision, hash, mark, parts, body, digest FROM snapshots WHERE stream = $1
