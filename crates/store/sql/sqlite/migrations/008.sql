-- The audit log: who called what, when, and how it ended. `number` is never given twice, so that rows that were deleted leave
-- a gap. `at` is in microseconds since 1970. It has no shard: it belongs to callers, not to a campaign.
-- This may run twice: a store whose tokens are rows stays at version 4 until they are events, with the tables of the newest
-- version.
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    surface TEXT NOT NULL,
    operation TEXT NOT NULL,
    principal TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    duration_us INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS audit_by_time ON audit (at);
