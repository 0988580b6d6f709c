-- An answer is sent after the commit is on disk, whatever the server's default is.
SET synchronous_commit = on;
SET idle_in_transaction_session_timeout = '10s';
-- A statement that waits for somebody's lock ends before its caller gives up. Otherwise the caller would leave it behind,
-- with its connection, and come back with another.
SET lock_timeout = '3s'
