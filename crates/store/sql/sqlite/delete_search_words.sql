DELETE FROM search_words WHERE rowid = ?1
