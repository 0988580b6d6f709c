//! Tests of the rules for tokens, invitations and page sessions: create, give a role, redeem, revoke, import, start, end.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::*;

fn given(by: &str) -> DecisionContext {
    DecisionContext { at: Timestamp::UNIX_EPOCH, by: by.to_owned() }
}

fn create_token(id: &str, person: &str) -> AccessCommand {
    let token = TokenToCreate {
        id: id.to_owned(),
        name: id.to_owned(),
        person: person.to_owned(),
        kind: PrincipalKind::Human,
        roles: BTreeMap::new(),
        participants: BTreeSet::new(),
        gate_role: None,
        secret_hash: format!("hash of {id}"),
        restrictions: TokenRestrictions::default(),
        subject: None,
    };
    AccessCommand::Create { token: Box::new(token), program: "skald token create".to_owned() }
}

fn revoke_token(id: &str) -> AccessCommand {
    AccessCommand::Revoke { token_id: id.to_owned(), program: "skald token revoke".to_owned() }
}

fn give_role(id: &str, role: CampaignRole) -> AccessCommand {
    let (token_id, campaign_id) = (id.to_owned(), "camp_1".to_owned());
    AccessCommand::GiveRole { token_id, campaign_id, role, program: "campaign_create".to_owned() }
}

fn import_tokens() -> AccessCommand {
    AccessCommand::Import { tokens: Vec::new(), program: "skald".to_owned() }
}

/// The state after commands that are all accepted.
fn state_after(commands: &[AccessCommand]) -> AccessState {
    commands.iter().fold(AccessState::default(), |state, command| {
        let events = AccessRules::decide(&state, command, &given("owner")).expect("accepted");
        events.iter().fold(state, |state, event| AccessRules::evolve(state, event, &given("owner")))
    })
}

fn expect_refusal(state: &AccessState, command: &AccessCommand) -> AccessRefusal {
    AccessRules::decide(state, command, &given("owner")).expect_err("refused")
}

#[test]
fn a_token_says_who_made_it_and_how() {
    let state = state_after(&[create_token("token_a", "ana")]);
    let made = &state.valid_token("token_a").expect("a token").made;
    assert_eq!((made.by.as_str(), made.program.as_str()), ("owner", "skald token create"));
    let exists = AccessRefusal::TokenExists { token_id: "token_a".to_owned() };
    assert_eq!(expect_refusal(&state, &create_token("token_a", "bo")), exists);
}

#[test]
fn what_was_revoked_is_still_known_and_stays_revoked() {
    let state = state_after(&[create_token("token_a", "ana"), revoke_token("token_a")]);
    assert_eq!(state.valid_token("token_a"), None);
    assert_eq!(
        state.get("token_a").and_then(|token| token.revoked.clone()).expect("revoked").program,
        "skald token revoke"
    );
    let gone = AccessRefusal::TokenNotFound { token_id: "token_a".to_owned() };
    for command in [revoke_token("token_a"), give_role("token_a", CampaignRole::Gm)] {
        assert_eq!(expect_refusal(&state, &command), gone);
    }
    assert!(matches!(expect_refusal(&state, &create_token("token_a", "ana")), AccessRefusal::TokenExists { .. }));
}

#[test]
fn a_role_is_given_once() {
    let state = state_after(&[create_token("token_a", "ana"), give_role("token_a", CampaignRole::Player)]);
    let held = AccessRefusal::RoleHeld { token_id: "token_a".to_owned() };
    for role in [CampaignRole::Guest, CampaignRole::Player] {
        assert_eq!(expect_refusal(&state, &give_role("token_a", role)), held);
    }
    assert!(AccessRules::decide(&state, &give_role("token_a", CampaignRole::Gm), &given("owner")).is_ok());
}

#[test]
fn tokens_from_before_are_taken_over_first_or_not_at_all() {
    assert_eq!(expect_refusal(&state_after(&[import_tokens()]), &import_tokens()), AccessRefusal::TooLateToImport);
    assert_eq!(
        expect_refusal(&state_after(&[create_token("token_a", "ana")]), &import_tokens()),
        AccessRefusal::TooLateToImport
    );
}

#[test]
fn tokens_of_one_person_are_the_same_person() {
    let state = state_after(&[
        create_token("token_a", "ana"),
        create_token("token_b", "ana"),
        create_token("token_c", "bo"),
        create_token("token_d", OWNER),
        revoke_token("token_b"),
    ]);
    assert_eq!(state.principals_of_same_person("token_a"), ["token_b"], "also once it is revoked");
    assert_eq!(state.principals_of_same_person("token_c"), Vec::<String>::new());
    assert_eq!(state.principals_of_same_person("token_d"), [OWNER]);
    assert_eq!(state.principals_of_same_person(OWNER), ["token_d"]);
    assert_eq!(state.principals_of_same_person("token_x"), Vec::<String>::new());
}

#[test]
fn a_name_in_another_spelling_is_the_same_person() {
    assert_eq!(person_of("  Ana   MARIA "), "ana maria");
    assert_eq!(person_of("Ana Maria"), person_of("ana maria"));
}

fn invite(id: &str, expires_at: Timestamp) -> AccessCommand {
    let invitation = InvitationToCreate {
        id: id.to_owned(),
        name: "Ana".to_owned(),
        person: "ana".to_owned(),
        roles: BTreeMap::from([("camp_1".to_owned(), CampaignRole::Player)]),
        participants: BTreeSet::new(),
        code_hash: "hash".to_owned(),
        expires_at: expires_at.into(),
        restrictions: TokenRestrictions { scope: Some(TokenScope::Write), ..TokenRestrictions::default() },
    };
    AccessCommand::Invite { invitation: Box::new(invitation), program: "skald invite create".to_owned() }
}

fn redeem(id: &str, token_id: &str) -> AccessCommand {
    AccessCommand::Redeem {
        invitation_id: id.to_owned(),
        token_id: token_id.to_owned(),
        secret_hash: "hash of the token".to_owned(),
        program: "redeem".to_owned(),
    }
}

fn later() -> Timestamp {
    Timestamp::from_second(3_600).expect("a time")
}

#[test]
fn an_invitation_is_redeemed_once_for_a_token_with_its_roles() {
    let state = state_after(&[invite("invitation_a", later()), redeem("invitation_a", "token_a")]);
    let token = state.valid_token("token_a").expect("a token");
    assert_eq!(token.roles, BTreeMap::from([("camp_1".to_owned(), CampaignRole::Player)]));
    assert_eq!((token.name.as_str(), token.restrictions.scope), ("Ana", Some(TokenScope::Write)));
    assert_eq!(state.invitation("invitation_a").expect("known").token_id.as_deref(), Some("token_a"));
    let not_open = AccessRefusal::InvitationNotOpen { invitation_id: "invitation_a".to_owned() };
    assert_eq!(expect_refusal(&state, &redeem("invitation_a", "token_b")), not_open);
    let revoke = AccessCommand::RevokeInvitation { invitation_id: "invitation_a".to_owned(), program: String::new() };
    assert_eq!(expect_refusal(&state, &revoke), not_open);
}

#[test]
fn an_invitation_that_expired_was_revoked_or_never_was_is_not_open() {
    let revoke = AccessCommand::RevokeInvitation { invitation_id: "gone".to_owned(), program: String::new() };
    let state = state_after(&[invite("old", Timestamp::UNIX_EPOCH), invite("gone", later()), revoke]);
    for id in ["old", "gone", "never"] {
        let not_open = AccessRefusal::InvitationNotOpen { invitation_id: id.to_owned() };
        assert_eq!(expect_refusal(&state, &redeem(id, "token_a")), not_open);
    }
}

#[test]
fn a_subject_has_one_token_until_it_is_revoked() {
    let with_subject = |id: &str| {
        let AccessCommand::Create { mut token, program } = create_token(id, id) else { unreachable!() };
        token.subject = Some(OauthSubject { issuer: "https://issuer".to_owned(), subject: "ana".to_owned() });
        AccessCommand::Create { token, program }
    };
    let state = state_after(&[with_subject("token_a")]);
    let taken = AccessRefusal::SubjectTaken { subject: "ana".to_owned(), token_id: "token_a".to_owned() };
    assert_eq!(expect_refusal(&state, &with_subject("token_b")), taken);
    let state = state_after(&[with_subject("token_a"), revoke_token("token_a"), with_subject("token_b")]);
    let subject = OauthSubject { issuer: "https://issuer".to_owned(), subject: "ana".to_owned() };
    assert_eq!(state.token_of_subject(&subject).expect("a token").id, "token_b");
}

#[test]
fn the_widest_of_the_scopes_counts_and_others_words_do_not() {
    assert_eq!(TokenScope::from_oauth_scopes("openid skald:read skald:write"), Some(TokenScope::Write));
    assert_eq!(TokenScope::from_oauth_scopes("skald:gm"), Some(TokenScope::Gm));
    assert_eq!(TokenScope::from_oauth_scopes("openid skald:everything skald:GM"), None);
    assert!(TokenScope::Read < TokenScope::Write && TokenScope::Write < TokenScope::Gm);
}

#[test]
fn a_holder_is_the_participants_that_were_named_last() {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<String>>();
    let bind = |id: &str, participants: &[&str]| AccessCommand::BindParticipants {
        token_id: id.to_owned(),
        participants: ids(participants),
        program: "skald token bind".to_owned(),
    };
    let created = create_token("token_a", "ana");
    let state = state_after(&[created.clone(), bind("token_a", &["part_1", "part_2"])]);
    assert_eq!(state.get("token_a").unwrap().participants, ids(&["part_1", "part_2"]));
    let state = state_after(&[created, bind("token_a", &["part_1", "part_2"]), bind("token_a", &["part_2"])]);
    assert_eq!(state.get("token_a").unwrap().participants, ids(&["part_2"]));
    let refused = expect_refusal(&state, &bind("token_b", &["part_1"]));
    assert_eq!(refused, AccessRefusal::TokenNotFound { token_id: "token_b".to_owned() });
}

fn start_page_session(id: &str, token_id: &str, expires_at: Timestamp) -> AccessCommand {
    let session = PageSessionToStart {
        id: id.to_owned(),
        token_id: token_id.to_owned(),
        secret_hash: format!("hash of {id}"),
        browser: "Firefox on Linux".to_owned(),
        expires_at: expires_at.into(),
    };
    AccessCommand::StartPageSession { session: Box::new(session), program: "POST /sign-in".to_owned() }
}

fn end_page_session(id: &str) -> AccessCommand {
    AccessCommand::EndPageSession { session_id: id.to_owned(), program: "POST /sign-out".to_owned() }
}

#[test]
fn a_page_session_lasts_until_it_is_ended_or_its_token_is_revoked() {
    let later = Timestamp::from_second(1_000).expect("a time");
    let tokens = [create_token("token_a", "ana"), create_token("token_b", "bo")];
    let sessions = [start_page_session("page_1", "token_a", later), start_page_session("page_2", "token_b", later)];
    let state = state_after(&[tokens.as_slice(), &sessions].concat());
    assert_eq!(state.page_sessions().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["page_1", "page_2"]);
    let exists = AccessRefusal::PageSessionExists { session_id: "page_1".to_owned() };
    assert_eq!(expect_refusal(&state, &start_page_session("page_1", "token_a", later)), exists);
    for end in [end_page_session("page_1"), revoke_token("token_a")] {
        let state = state_after(&[tokens.as_slice(), &sessions, &[end]].concat());
        assert!(state.page_session("page_1").is_none() && state.page_session("page_2").is_some());
        let missing = AccessRefusal::PageSessionNotFound { session_id: "page_1".to_owned() };
        assert_eq!(expect_refusal(&state, &end_page_session("page_1")), missing);
    }
    let revoked = state_after(&[create_token("token_a", "ana"), revoke_token("token_a")]);
    let gone = AccessRefusal::TokenNotFound { token_id: "token_a".to_owned() };
    assert_eq!(expect_refusal(&revoked, &start_page_session("page_1", "token_a", later)), gone);
}

#[test]
fn one_browser_too_many_signs_out_the_oldest() {
    let later = Timestamp::from_second(1_000).expect("a time");
    let most = crate::limits::PAGE_SESSIONS_PER_TOKEN_MAX;
    let start = |number: usize| start_page_session(&format!("page_{number:03}"), "token_a", later);
    let mut commands = vec![create_token("token_a", "ana")];
    commands.extend((0..most).map(start));
    assert!(state_after(&commands).page_session("page_000").is_some());
    commands.push(start(most));
    let state = state_after(&commands);
    assert_eq!(state.page_sessions().count(), most);
    assert!(state.page_session("page_000").is_none() && state.page_session(&format!("page_{most:03}")).is_some());
}

#[test]
fn an_expired_page_session_is_forgotten_when_another_starts() {
    let expired = Timestamp::UNIX_EPOCH;
    let later = Timestamp::from_second(1_000).expect("a time");
    let commands = [
        create_token("token_a", "ana"),
        start_page_session("page_1", "token_a", expired),
        start_page_session("page_2", "token_a", later),
    ];
    assert_eq!(state_after(&commands).page_sessions().count(), 1);
}
