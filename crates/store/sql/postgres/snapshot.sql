SELECT version, revision, hash, body FROM snapshots WHERE stream = $1
