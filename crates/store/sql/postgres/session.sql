-- An answer is sent after the commit is on disk, whatever the server's default is.
SET synchronous_commit = on;
SET idle_in_transaction_session_timeout = '10s'
