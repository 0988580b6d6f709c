DELETE FROM documents WHERE stream = $1
