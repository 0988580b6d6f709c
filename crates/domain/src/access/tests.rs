//! Tests of the rules for tokens: create, give a role, revoke, import.

use std::collections::BTreeMap;

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
        gate_role: None,
        secret_hash: format!("hash of {id}"),
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
