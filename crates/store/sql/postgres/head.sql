SELECT revision, hash FROM heads WHERE stream = $1
