INSERT INTO search_words (search_words) VALUES ('delete-all')
