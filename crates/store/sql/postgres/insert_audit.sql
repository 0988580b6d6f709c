INSERT INTO audit (at, request_id, surface, operation, principal, campaign_id, outcome, duration_us)
SELECT rows.at, rows.request_id, rows.surface, rows.operation, rows.principal, rows.campaign_id, rows.outcome, rows.duration_us
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[])
WITH ORDINALITY AS rows (at, request_id, surface, operation, principal, campaign_id, outcome, duration_us, place)
ORDER BY rows.place
