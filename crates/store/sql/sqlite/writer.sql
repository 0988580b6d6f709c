SELECT process, turn FROM writer WHERE id = 1
