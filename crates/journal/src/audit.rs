//! The audit log: who called what, when, and how it ended. It is no part of the journal: reads and refusals are no
//! events, and it is deleted after a time.

use jiff::Timestamp;

use crate::store_port::StoreFuture;

/// One call. It has no content of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// Counts the rows of a store; 0 before it is stored.
    pub number: u64,
    pub at: Timestamp,
    /// The same id is in the server's log.
    pub request_id: String,
    /// The surface: `mcp`, `rest`, `grpc` or `kanka`.
    pub surface: String,
    pub operation: String,
    /// The id of the token, or `owner`.
    pub principal: String,
    /// The campaign that the call was about, empty if none.
    pub campaign_id: String,
    /// `ok`, or the code of the error.
    pub outcome: String,
    pub duration_us: u64,
}

/// Which rows are read. What is `None` is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// The first time that is included.
    pub since: Option<Timestamp>,
    /// The first time that is not included any more.
    pub until: Option<Timestamp>,
    pub principal: Option<String>,
    pub campaign_id: Option<String>,
    pub operation: Option<String>,
    pub outcome: Option<String>,
}

impl AuditFilter {
    pub fn admits(&self, row: &AuditRow) -> bool {
        let is = |wanted: &Option<String>, text: &str| wanted.as_deref().is_none_or(|wanted| wanted == text);
        self.since.is_none_or(|since| row.at >= since)
            && self.until.is_none_or(|until| row.at < until)
            && is(&self.principal, &row.principal)
            && is(&self.campaign_id, &row.campaign_id)
            && is(&self.operation, &row.operation)
            && is(&self.outcome, &row.outcome)
    }
}

/// The audit log of a store. Rows are appended and deleted by age, and never changed.
pub trait AuditLog: Send + Sync + 'static {
    /// Stores rows, in order, and numbers them.
    fn append_audit(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()>;

    /// The rows after a number, in order.
    fn audit_after<'a>(&'a self, filter: &'a AuditFilter, after: u64, limit: usize) -> StoreFuture<'a, Vec<AuditRow>>;

    /// The newest rows, in order.
    fn audit_latest<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> StoreFuture<'a, Vec<AuditRow>>;

    /// Deletes the rows from before a time.
    fn delete_audit_before(&self, at: Timestamp) -> StoreFuture<'_, ()>;
}
