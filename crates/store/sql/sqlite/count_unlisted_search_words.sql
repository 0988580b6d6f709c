-- Entries of the index that belong to no document.
SELECT count(*) FROM search_words_docsize WHERE id NOT IN (SELECT place FROM search_rows)
