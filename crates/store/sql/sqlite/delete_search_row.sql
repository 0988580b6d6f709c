DELETE FROM search_rows WHERE collection = ?1 AND id = ?2
