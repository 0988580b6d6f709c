//! Tests of the audit log: rows are stored in the background, kept for some days, and all stored at the end.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use skald_app::{
    AuditScope, Caller, CampaignRole, Code, CompletionRequest, CompletionTarget, Engine, LocalEngine, NewToken,
    PrincipalKind, RequestControl, RequestOrigin, RequestSurface, TokenRestrictions, limits,
};
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

/// The rows that are noted while `calls` run: who, what, where, in which campaign, and how it ended.
fn noted_rows(calls: impl AsyncFnOnce(&LocalEngine)) -> Vec<[String; 5]> {
    paused_runtime().block_on(async {
        let engine = engine();
        let (stopping, kept) = (CancellationToken::new(), Arc::clone(&engine));
        let stop = stopping.clone();
        let task = tokio::spawn(async move { kept.app().keep_audit(AuditScope::Tokens, 0, stop).await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        let local: &LocalEngine = &engine;
        calls(local).await;
        stopping.cancel();
        task.await.expect("it ends");
        let rows = engine.app().journal.audit_after(&AuditFilter::default(), 0, 10_000).await.expect("rows");
        let texts = |row: AuditRow| [row.principal, row.operation, row.surface, row.campaign_id, row.outcome];
        rows.into_iter().map(texts).collect()
    })
}

fn at_address(surface: RequestSurface, number: u32) -> RequestOrigin {
    RequestOrigin { surface, address: Some(Ipv4Addr::from_bits(number).into()) }
}

async fn create_token(engine: &LocalEngine, restrictions: TokenRestrictions) -> (String, String) {
    let new = NewToken {
        name: "Ana".to_owned(),
        person: None,
        kind: PrincipalKind::Human,
        roles: BTreeMap::new(),
        participants: Vec::new(),
        gate_role: None,
        restrictions,
        subject: None,
        program: "a test".to_owned(),
    };
    let (secret, token) = engine.app().create_token(new).await.expect("a token");
    (secret, token.id)
}

/// A token that is not known is noted as nobody's, and one that expired or was revoked as its own, once a minute each.
#[test]
fn refused_tokens_are_noted_once_a_minute_for_each_address_and_token() {
    let (mut revoked, mut expired) = (String::new(), String::new());
    let rows = noted_rows(async |engine: &LocalEngine| {
        let (revoked_secret, revoked_id) = create_token(engine, TokenRestrictions::default()).await;
        assert!(engine.app().revoke_token(&revoked_id, "a test").await.expect("revoked"));
        let at = engine.app().clock.now() - SignedDuration::from_secs(1);
        let past = TokenRestrictions { expires_at: Some(at.into()), ..TokenRestrictions::default() };
        let (expired_secret, expired_id) = create_token(engine, past).await;
        let (_, known_id) = create_token(engine, TokenRestrictions::default()).await;
        let guessed = format!("skald_{}_guess", known_id.strip_prefix("token_").expect("an id"));
        for _ in 0..50 {
            for secret in ["skald_zqid_zqsecret", "zqsecret", &guessed, &revoked_secret, &expired_secret] {
                let origin = at_address(RequestSurface::Rest, 1);
                let fault = engine.authenticate_request(secret, origin).await.expect_err("it is refused");
                let words = "the token is not known here, or was revoked";
                assert_eq!((fault.code(), fault.body().message.as_str()), (Code::Unauthorized, words));
            }
        }
        let unknown = engine.authenticate_request("zqsecret", at_address(RequestSurface::Mcp, 1)).await;
        let fault = unknown.expect_err("it is refused");
        engine.note_missing_token(at_address(RequestSurface::Rest, 1), &fault);
        engine.note_missing_token(at_address(RequestSurface::Rest, 1), &fault);
        (revoked, expired) = (revoked_id, expired_id);
    });
    let expected = [
        ["nobody", "authenticate", "rest", "", "UNAUTHORIZED"],
        [revoked.as_str(), "authenticate", "rest", "", "UNAUTHORIZED"],
        [expired.as_str(), "authenticate", "rest", "", "UNAUTHORIZED"],
        ["nobody", "authenticate", "mcp", "", "UNAUTHORIZED"],
        ["nobody", "missing_token", "rest", "", "UNAUTHORIZED"],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn many_addresses_do_not_fill_the_audit_log() {
    let rows = noted_rows(async |engine: &LocalEngine| {
        for number in 0..2_000 {
            engine
                .authenticate_request("zqsecret", at_address(RequestSurface::Rest, number))
                .await
                .expect_err("unknown");
        }
        for _ in 0..100 {
            engine.redeem_invitation("skaldinvite_zqcode_zqsecret", "a test").await.expect_err("no invitation");
        }
    });
    assert_eq!(rows.len(), limits::REFUSED_ENTRIES_AUDITED_PER_MINUTE);
}

#[test]
fn prompts_and_completions_are_noted_with_their_campaign_and_surface() {
    let mut campaign_id = String::new();
    let rows = noted_rows(async |engine: &LocalEngine| {
        let named = json!({"name": "Bells", "gm_mode": "HUMAN"});
        let created = call(engine, &Caller::owner(), "campaign_create", named).await.expect("a campaign");
        created["id"].as_str().expect("an id").clone_into(&mut campaign_id);
        let player = caller_with_roles(&[(&campaign_id, CampaignRole::Player)]);
        let arguments = [("campaign_id".to_owned(), campaign_id.clone())];
        let foreign = [("campaign_id".to_owned(), "camp_unknown".to_owned())];
        for surface in [RequestSurface::Mcp, RequestSurface::Grpc] {
            let control = || RequestControl { surface, ..RequestControl::default() };
            engine.render(&player, "run_scene", &arguments, &control()).await.expect("a prompt");
            engine.render(&player, "run_scene", &foreign, &control()).await.expect_err("no campaign");
            let request = CompletionRequest {
                target: CompletionTarget::Resource("lore://{campaign_id}/entity/{entity_id}".to_owned()),
                argument: "entity_id".to_owned(),
                typed: "zq".to_owned(),
                given: arguments.to_vec(),
            };
            engine.complete(&player, &request, &control()).await.expect("values");
        }
    });
    let [who, ..] = &rows[0];
    let expected = ["mcp", "grpc"].map(|surface| {
        [
            [who.as_str(), "run_scene", surface, &campaign_id, "ok"],
            [who.as_str(), "run_scene", surface, "", "NOT_FOUND"],
            [who.as_str(), "completion", surface, &campaign_id, "ok"],
        ]
    });
    assert_eq!(rows, expected.concat());
}
