INSERT INTO search_words (search_words) VALUES ('optimize')
