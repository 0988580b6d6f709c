//! The audit log in PostgreSQL.

use jiff::Timestamp;
use skald_journal::{AuditFilter, AuditLog, AuditRow};
use tokio_postgres::Row;

use super::session::Parameters;
use super::{Postgres, REBUILD_TIMEOUT, StoreFuture, sql};
use crate::signed_number::{page_limit, to_i64, to_u64};

fn audit_row(row: &Row) -> AuditRow {
    AuditRow {
        number: to_u64(row.get(0)),
        at: Timestamp::from_microsecond(row.get(1)).unwrap_or_default(),
        request_id: row.get(2),
        surface: row.get(3),
        operation: row.get(4),
        principal: row.get(5),
        campaign_id: row.get(6),
        outcome: row.get(7),
        duration_us: to_u64(row.get(8)),
    }
}

impl AuditLog for Postgres {
    fn append_audit(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let column = |text: fn(&AuditRow) -> &str| rows.iter().map(text).collect::<Vec<_>>();
            let at: Vec<i64> = rows.iter().map(|row| row.at.as_microsecond()).collect();
            let durations: Vec<i64> = rows.iter().map(|row| to_i64(row.duration_us)).collect();
            let (request_ids, surfaces) = (column(|row| &row.request_id), column(|row| &row.surface));
            let (operations, principals) = (column(|row| &row.operation), column(|row| &row.principal));
            let (campaigns, outcomes) = (column(|row| &row.campaign_id), column(|row| &row.outcome));
            let parameters: Parameters<'_> =
                &[&at, &request_ids, &surfaces, &operations, &principals, &campaigns, &outcomes, &durations];
            self.link.execute(sql::INSERT_AUDIT, parameters).await.map(drop)
        })
    }

    fn audit_after<'a>(&'a self, filter: &'a AuditFilter, after: u64, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        Box::pin(async move {
            let AuditFilter { since, until, principal, campaign_id, operation, outcome } = filter;
            let (since, until) = (since.map(Timestamp::as_microsecond), until.map(Timestamp::as_microsecond));
            let (after, limit) = (to_i64(after), page_limit(limit));
            let parameters: Parameters<'_> =
                &[&since, &until, principal, campaign_id, operation, outcome, &after, &limit];
            Ok(self.link.query(sql::AUDIT_AFTER, parameters).await?.iter().map(audit_row).collect())
        })
    }

    fn audit_latest<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        Box::pin(async move {
            let AuditFilter { since, until, principal, campaign_id, operation, outcome } = filter;
            let (since, until) = (since.map(Timestamp::as_microsecond), until.map(Timestamp::as_microsecond));
            let limit = page_limit(limit);
            let parameters: Parameters<'_> = &[&since, &until, principal, campaign_id, operation, outcome, &limit];
            Ok(self.link.query(sql::AUDIT_LATEST, parameters).await?.iter().rev().map(audit_row).collect())
        })
    }

    fn delete_audit_before(&self, at: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let at = at.as_microsecond();
            self.link.query_within(REBUILD_TIMEOUT, sql::DELETE_AUDIT_BEFORE, &[&at]).await.map(drop)
        })
    }
}
