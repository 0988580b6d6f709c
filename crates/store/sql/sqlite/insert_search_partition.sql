INSERT INTO search_partitions (collection, partition) VALUES (?1, ?2) RETURNING number
