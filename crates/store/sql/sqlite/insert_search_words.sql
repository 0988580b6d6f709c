INSERT INTO search_words (rowid, name, extra, frequent, body) VALUES (?1, ?2, ?3, ?4, ?5)
