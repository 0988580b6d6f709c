WITH deleted AS (
    DELETE FROM search_rows WHERE stream = $1
)
DELETE FROM documents WHERE stream = $1
