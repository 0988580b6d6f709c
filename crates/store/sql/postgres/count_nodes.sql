SELECT count(*) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 2 AND classid = 1397441860 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND objid::bigint = hashtext(current_schema())::bigint & 4294967295
