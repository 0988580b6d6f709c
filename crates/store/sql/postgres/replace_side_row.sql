UPDATE shelf SET body = $4 WHERE kind = $1 AND key = $2 AND body = $3
