DELETE FROM search_rows WHERE stream = ?1
