//! Administration of a store by its owner, for the command line's tasks on a page: tokens, invitations, the audit log,
//! verification and backup. No tool and no REST route reaches it, and no token: only the owner of the process.

use std::path::Path;
use std::time::Instant;

use futures::FutureExt;
use futures::future::BoxFuture;
use skald_journal::{AuditFilter, AuditRow, StoreError, VerifyVerdict, hex};

use crate::{
    Caller, Code, Fault, Invitation, LocalEngine, NewInvitation, NewToken, Principal, RequestControl, RequestSurface,
    Token,
};

/// What the owner of a store may do beside playing. Everybody else is refused by every method.
pub trait Administration: Send + Sync {
    /// All tokens, revoked ones included.
    fn list_tokens<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Token>, Fault>>;

    /// Creates a token. Its secret is answered once.
    fn create_token<'a>(&'a self, caller: &'a Caller, new: NewToken) -> BoxFuture<'a, Result<(String, Token), Fault>>;

    fn revoke_token<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>>;

    /// All invitations, also those that were redeemed or revoked.
    fn list_invitations<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Invitation>, Fault>>;

    /// Creates an invitation. Its code is answered once.
    fn create_invitation<'a>(
        &'a self,
        caller: &'a Caller,
        new: NewInvitation,
    ) -> BoxFuture<'a, Result<(String, Invitation), Fault>>;

    fn revoke_invitation<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>>;

    /// The newest rows of the audit log, oldest of them first.
    fn read_audit<'a>(
        &'a self,
        caller: &'a Caller,
        filter: &'a AuditFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<AuditRow>, Fault>>;

    /// Verifies every stream and all rows beside the journal.
    fn verify_store<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<VerificationResult, Fault>>;

    /// Writes a consistent copy of the store. The file must not exist.
    fn backup_store<'a>(&'a self, caller: &'a Caller, path: &'a Path) -> BoxFuture<'a, Result<(), Fault>>;
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationResult {
    pub streams: u64,
    pub records: u64,
    /// Rows of read models.
    pub documents: u64,
    /// Rows beside the journal.
    pub side_rows: u64,
    /// A hash of everything, in hexadecimal digits.
    pub root: String,
    /// What is wrong, each with what to do about it.
    pub findings: Vec<(String, &'static str)>,
    /// Findings that are not listed.
    pub unlisted: usize,
}

impl VerificationResult {
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty() && self.unlisted == 0
    }

    fn from_verdict(verdict: VerifyVerdict) -> Self {
        let (report, findings, unlisted) = match verdict {
            VerifyVerdict::Sound(report) => (report, Vec::new(), 0),
            VerifyVerdict::Unsound { report, findings, unlisted } => (report, findings, unlisted),
        };
        Self {
            streams: report.streams,
            records: report.records,
            documents: report.documents,
            side_rows: report.side_rows,
            root: hex(&report.root),
            findings: findings.iter().map(|finding| (finding.to_string(), finding.kind.remedy())).collect(),
            unlisted,
        }
    }
}

impl LocalEngine {
    /// Runs a task of the owner, and notes it as a call.
    async fn administer<T: Send>(
        &self,
        caller: &Caller,
        task: &'static str,
        run: impl Future<Output = Result<T, Fault>> + Send,
    ) -> Result<T, Fault> {
        let begun = Instant::now();
        let done = if caller.principal == Principal::Owner {
            self.catch_panic(run.boxed()).await
        } else {
            let fault = Fault::new(Code::Forbidden, "this is for the owner of the server");
            Err(fault.hint("open the page on the machine where Skald runs, or use its command line"))
        };
        let control = RequestControl { surface: RequestSurface::Page, ..RequestControl::default() };
        self.note_answer(task, caller, &control, done.as_ref().err(), begun);
        done
    }
}

impl Administration for LocalEngine {
    fn list_tokens<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Token>, Fault>> {
        Box::pin(self.administer(caller, "list_tokens", self.app().all_tokens()))
    }

    fn create_token<'a>(&'a self, caller: &'a Caller, new: NewToken) -> BoxFuture<'a, Result<(String, Token), Fault>> {
        Box::pin(self.administer(caller, "create_token", self.app().create_token(new)))
    }

    fn revoke_token<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        let revoke = async move {
            let is_revoked = self.app().revoke_token(id, program).await?;
            is_revoked.then_some(()).ok_or_else(|| missing_fault("token", id))
        };
        Box::pin(self.administer(caller, "revoke_token", revoke))
    }

    fn list_invitations<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<Invitation>, Fault>> {
        Box::pin(self.administer(caller, "list_invitations", self.app().all_invitations()))
    }

    fn create_invitation<'a>(
        &'a self,
        caller: &'a Caller,
        new: NewInvitation,
    ) -> BoxFuture<'a, Result<(String, Invitation), Fault>> {
        Box::pin(self.administer(caller, "create_invitation", self.app().create_invitation(new)))
    }

    fn revoke_invitation<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        let revoke = async move {
            let is_revoked = self.app().revoke_invitation(id, program).await?;
            is_revoked.then_some(()).ok_or_else(|| missing_fault("open invitation", id))
        };
        Box::pin(self.administer(caller, "revoke_invitation", revoke))
    }

    fn read_audit<'a>(
        &'a self,
        caller: &'a Caller,
        filter: &'a AuditFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<AuditRow>, Fault>> {
        let read = async move {
            let rows = self.app().journal.audit_latest(filter, limit).await;
            rows.map_err(|error| self.app().store_fault(&error))
        };
        Box::pin(self.administer(caller, "read_audit", read))
    }

    fn verify_store<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<VerificationResult, Fault>> {
        let verify = async move {
            let verdict = skald_journal::verify(&*self.app().journal, &self.app().nouns.stream_kinds()).await;
            verdict.map(VerificationResult::from_verdict).map_err(|error| self.app().store_fault(&error))
        };
        Box::pin(self.administer(caller, "verify_store", verify))
    }

    fn backup_store<'a>(&'a self, caller: &'a Caller, path: &'a Path) -> BoxFuture<'a, Result<(), Fault>> {
        let backup = async move {
            self.app().journal.backup(path).await.map_err(|error| match error {
                StoreError::Unsupported(why) => {
                    Fault::new(Code::Rejected, why).hint("a database server has tools of its own for backups")
                }
                error => self.app().store_fault(&error),
            })
        };
        Box::pin(self.administer(caller, "backup_store", backup))
    }
}

fn missing_fault(what: &str, id: &str) -> Fault {
    let fault = Fault::new(Code::NotFound, format!("there is no {what} {:?}", crate::truncate_for_message(id)));
    fault.hint("it may be revoked already; the list has those that are there")
}
