//! The audit log in SQLite.

use jiff::Timestamp;
use rusqlite::{Row, params};
use skald_journal::{AuditFilter, AuditLog, AuditRow};

use super::{Sqlite, StoreFuture, sql};
use crate::signed_number::{page_limit, to_i64, to_u64};

fn audit_row(row: &Row<'_>) -> rusqlite::Result<AuditRow> {
    Ok(AuditRow {
        number: to_u64(row.get(0)?),
        at: Timestamp::from_microsecond(row.get(1)?).unwrap_or_default(),
        request_id: row.get(2)?,
        surface: row.get(3)?,
        operation: row.get(4)?,
        principal: row.get(5)?,
        campaign_id: row.get(6)?,
        outcome: row.get(7)?,
        duration_us: to_u64(row.get(8)?),
    })
}

impl AuditLog for Sqlite {
    fn append_audit(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.run_write(move |connection| {
            let mut statement = connection.prepare_cached(sql::INSERT_AUDIT)?;
            for row in &rows {
                statement.execute(params![
                    row.at.as_microsecond(),
                    row.request_id,
                    row.surface,
                    row.operation,
                    row.principal,
                    row.campaign_id,
                    row.outcome,
                    to_i64(row.duration_us),
                ])?;
            }
            Ok(())
        })
    }

    fn audit_after<'a>(&'a self, filter: &'a AuditFilter, after: u64, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        let AuditFilter { since, until, principal, campaign_id, operation, outcome } = filter.clone();
        let (since, until) = (since.map(Timestamp::as_microsecond), until.map(Timestamp::as_microsecond));
        self.run_read(move |rows| {
            let mut statement = rows.0.prepare_cached(sql::AUDIT_AFTER)?;
            let (after, limit) = (to_i64(after), page_limit(limit));
            let wanted = params![since, until, principal, campaign_id, operation, outcome, after, limit];
            statement.query_map(wanted, audit_row)?.collect()
        })
    }

    fn audit_latest<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> StoreFuture<'a, Vec<AuditRow>> {
        let AuditFilter { since, until, principal, campaign_id, operation, outcome } = filter.clone();
        let (since, until) = (since.map(Timestamp::as_microsecond), until.map(Timestamp::as_microsecond));
        self.run_read(move |rows| {
            let mut statement = rows.0.prepare_cached(sql::AUDIT_LATEST)?;
            let wanted = params![since, until, principal, campaign_id, operation, outcome, page_limit(limit)];
            let mut latest: Vec<AuditRow> = statement.query_map(wanted, audit_row)?.collect::<Result<_, _>>()?;
            latest.reverse();
            Ok(latest)
        })
    }

    fn delete_audit_before(&self, at: Timestamp) -> StoreFuture<'_, ()> {
        let at = at.as_microsecond();
        self.run_write(move |connection| connection.execute(sql::DELETE_AUDIT_BEFORE, [at]).map(drop))
    }
}
