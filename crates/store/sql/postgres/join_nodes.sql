-- One lock for each session that serves requests, under the name of the schema; the session's end releases it.
SELECT pg_try_advisory_lock_shared(1397441860, hashtext(current_schema()))
WHERE NOT EXISTS (
    SELECT FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'advisory' AND objsubid = 2 AND classid = 1397441860
)
