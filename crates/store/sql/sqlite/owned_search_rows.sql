SELECT r.collection, r.id, coalesce(p.partition, ''), r.place, r.digest,
    EXISTS (SELECT 1 FROM search_words AS w WHERE w.rowid = r.place)
FROM search_rows AS r
LEFT JOIN search_partitions AS p ON p.number = r.place >> 34 AND p.collection = r.collection
WHERE r.stream = ?1 AND (r.collection, r.id) > (?2, ?3)
ORDER BY r.collection, r.id LIMIT ?4
