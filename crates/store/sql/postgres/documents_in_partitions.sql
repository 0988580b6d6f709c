-- Of each partition no more rows are read than may be listed, and of other partitions none.
SELECT d.collection, d.id, d.rank, d.body, d.partition
FROM unnest($2::text[]) AS p (name)
CROSS JOIN LATERAL (
    SELECT o.collection, o.id, o.rank, o.body, o.partition FROM documents AS o
    WHERE o.collection = $1 AND o.partition = p.name AND o.rank <= $3 AND (o.rank < $3 OR o.id > $4)
    ORDER BY o.rank DESC, o.id LIMIT $5
) AS d
ORDER BY d.rank DESC, d.id LIMIT $5
