SELECT number, at, request_id, surface, operation, principal, campaign_id, outcome, duration_us
FROM audit
WHERE (?1 IS NULL OR audit.at >= ?1)
    AND (?2 IS NULL OR audit.at < ?2)
    AND (?3 IS NULL OR audit.principal = ?3)
    AND (?4 IS NULL OR audit.campaign_id = ?4)
    AND (?5 IS NULL OR audit.operation = ?5)
    AND (?6 IS NULL OR audit.outcome = ?6)
ORDER BY audit.number DESC
LIMIT ?7
