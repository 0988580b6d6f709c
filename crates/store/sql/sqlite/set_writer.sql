UPDATE writer SET process = ?1, turn = turn + 1 WHERE id = 1
