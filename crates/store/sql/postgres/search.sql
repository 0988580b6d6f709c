SELECT serial FROM search_rows
WHERE collection = $1 AND partition = $2 AND class = ANY($3) AND serial BETWEEN $4 AND $5
    AND ($9::bigint[] IS NULL OR serial = ANY ($9))
    AND words @@ $6::text::tsquery AND coalesce(runs, '') LIKE ALL ($7)
ORDER BY serial DESC LIMIT $8
