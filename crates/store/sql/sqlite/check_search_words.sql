PRAGMA integrity_check (search_words)
