DELETE FROM shelf WHERE kind = $1 AND key = $2
