-- Of each partition no more rows are read than may be listed, and of other partitions none.
SELECT d.collection, d.id, d.rank, d.body, d.partition
FROM json_each(?2) AS p
JOIN documents AS d ON d.rowid IN (
    SELECT o.rowid FROM documents AS o
    WHERE o.collection = ?1 AND o.partition = p.value AND o.rank <= ?3 AND (o.rank < ?3 OR o.id > ?4)
    ORDER BY o.rank DESC, o.id LIMIT ?5
)
ORDER BY d.rank DESC, d.id LIMIT ?5
