DELETE FROM search_rows
