//! Tests of the audit log: rows are stored in the background, kept for some days, and all stored at the end.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use skald_app::{AuditScope, Caller, CampaignRole, Engine};
use skald_journal::{AuditFilter, AuditRow};
use tokio_util::sync::CancellationToken;

use crate::gate::engine;
use crate::universe::{call, caller_with_roles};

fn old_row(at: Timestamp) -> AuditRow {
    AuditRow {
        number: 0,
        at,
        request_id: "req_old".to_owned(),
        surface: "rest".to_owned(),
        operation: "roll".to_owned(),
        principal: "token_a".to_owned(),
        campaign_id: String::new(),
        outcome: "ok".to_owned(),
        duration_us: 1,
    }
}

fn paused_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime")
}

#[test]
fn rows_are_kept_for_so_many_days() {
    paused_runtime().block_on(async {
        let engine = engine();
        let now = engine.app().clock.now();
        let hours = |hours: i64| now - SignedDuration::from_hours(hours);
        let journal = Arc::clone(&engine.app().journal);
        journal.append_audit(vec![old_row(hours(49)), old_row(hours(47))]).await.expect("stored");
        let (stopping, kept) = (CancellationToken::new(), Arc::clone(&engine));
        let stop = stopping.clone();
        let task = tokio::spawn(async move { kept.app().keep_audit(AuditScope::Tokens, 2, stop).await });
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(
            journal.audit_after(&AuditFilter::default(), 0, 10).await.expect("rows").len(),
            2,
            "not at the start"
        );
        tokio::time::sleep(Duration::from_mins(1)).await;
        let left = journal.audit_after(&AuditFilter::default(), 0, 10).await.expect("rows");
        assert_eq!(left.iter().map(|row| row.at).collect::<Vec<_>>(), [hours(47)]);
        stopping.cancel();
        task.await.expect("it ends");
    });
}

#[test]
fn what_was_noted_before_the_end_is_stored() {
    paused_runtime().block_on(async {
        let engine = engine();
        let (stopping, kept) = (CancellationToken::new(), Arc::clone(&engine));
        let stop = stopping.clone();
        let task = tokio::spawn(async move { kept.app().keep_audit(AuditScope::Tokens, 90, stop).await });
        tokio::task::yield_now().await;
        let player = caller_with_roles(&[("*", CampaignRole::Player)]);
        for _ in 0..700 {
            call(&engine, &player, "duality_rules_version", json!({})).await.expect("an answer");
        }
        call(&engine, &Caller::owner(), "duality_rules_version", json!({})).await.expect("an answer");
        stopping.cancel();
        task.await.expect("it ends");
        let rows = engine.app().journal.audit_after(&AuditFilter::default(), 0, 1_000).await.expect("rows");
        assert_eq!(rows.len(), 700, "the owner's call is not noted");
        assert!(rows.iter().all(|row| row.principal == player.id() && row.outcome == "ok"));
    });
}

/// Whoever fails to come in leaves a row, without what they tried.
#[test]
fn attempts_to_come_in_that_fail_are_noted() {
    paused_runtime().block_on(async {
        let engine = engine();
        let (stopping, kept) = (CancellationToken::new(), Arc::clone(&engine));
        let stop = stopping.clone();
        let task = tokio::spawn(async move { kept.app().keep_audit(AuditScope::Tokens, 0, stop).await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        engine.start_page_session("skald_zqtoken_zqsecret", "Firefox", "a test").await.expect_err("no token");
        engine.authenticate_page_session("skaldpage_zqsession_zqsecret").await.expect_err("no session");
        engine.redeem_invitation("skaldinvite_zqcode_zqsecret", "a test").await.expect_err("no invitation");
        stopping.cancel();
        task.await.expect("it ends");
        let rows = engine.app().journal.audit_after(&AuditFilter::default(), 0, 10).await.expect("rows");
        let rows: Vec<String> =
            rows.iter().map(|row| format!("{} {} {}", row.principal, row.operation, row.outcome)).collect();
        let expected = [
            "nobody start_page_session UNAUTHORIZED",
            "nobody authenticate_page_session UNAUTHORIZED",
            "nobody redeem_invitation NOT_FOUND",
        ];
        assert_eq!(rows, expected);
    });
}
