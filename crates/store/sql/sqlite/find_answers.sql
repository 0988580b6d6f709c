SELECT request, revision, answer FROM commands WHERE stream = ?1 AND key = ?2
