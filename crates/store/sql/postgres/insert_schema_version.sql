INSERT INTO skald_schema (version) VALUES ($1)
