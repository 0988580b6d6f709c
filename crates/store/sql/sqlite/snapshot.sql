SELECT version, revision, hash, mark, parts, body FROM snapshots WHERE stream = ?1
