DELETE FROM audit WHERE at < $1
