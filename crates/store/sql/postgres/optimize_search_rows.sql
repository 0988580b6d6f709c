VACUUM (ANALYZE) search_rows
