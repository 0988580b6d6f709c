SELECT number FROM search_partitions WHERE collection = ?1 AND partition = ?2
