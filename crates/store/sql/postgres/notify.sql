SELECT pg_notify('skald_journal', $1)
