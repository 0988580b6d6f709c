INSERT INTO audit (at, request_id, surface, operation, principal, campaign_id, outcome, duration_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
