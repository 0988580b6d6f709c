-- What is kept now needs no others, and they are not of a newer one that is being kept.
DELETE FROM snapshot_parts WHERE stream = ?1 AND mark <> ?2 AND revision <= ?3
