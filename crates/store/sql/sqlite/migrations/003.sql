-- A digest of the answer that was stored with a record under an idempotency key, empty if there was none. Records from
-- before this have null, and their hashes say nothing of answers.
ALTER TABLE records ADD COLUMN answer BLOB;
