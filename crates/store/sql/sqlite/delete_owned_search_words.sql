DELETE FROM search_words WHERE rowid IN (SELECT place FROM search_rows WHERE stream = ?1)
