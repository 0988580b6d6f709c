SELECT coalesce(max(version), 0) FROM skald_schema
