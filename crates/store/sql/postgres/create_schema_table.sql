CREATE TABLE IF NOT EXISTS skald_schema (version bigint NOT NULL)
