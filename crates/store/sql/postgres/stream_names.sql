-- Whatever anything is stored for, also where the stream itself is gone.
SELECT stream FROM heads WHERE stream > $1
UNION SELECT stream FROM records WHERE stream > $1
UNION SELECT stream FROM commands WHERE stream > $1
UNION SELECT stream FROM documents WHERE stream > $1
UNION SELECT stream FROM snapshots WHERE stream > $1
UNION SELECT stream FROM search_rows WHERE stream > $1
ORDER BY stream LIMIT $2
