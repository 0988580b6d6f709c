-- The audit log: who called what, when, and how it ended. `number` is never given twice, so that rows that were deleted leave
-- a gap. `at` is in microseconds since 1970. It has no shard: it belongs to callers, not to a campaign.
-- This may run twice: a store whose tokens are rows stays at version 4 until they are events, with the tables of the newest
-- version.
CREATE TABLE IF NOT EXISTS audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    surface text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    campaign_id text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    duration_us bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS audit_by_time ON audit (at);
