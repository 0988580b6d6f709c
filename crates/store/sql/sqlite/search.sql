SELECT rowid FROM search_words
WHERE search_words MATCH ?1 AND rowid BETWEEN ?2 AND ?3
ORDER BY rowid DESC
