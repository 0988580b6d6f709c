//! Tests of the rules for tokens: create, give a role, revoke, import.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;

fn given(by: &str) -> Given {
    Given { at: Timestamp::UNIX_EPOCH, by: by.to_owned() }
}

fn create(id: &str, person: &str) -> AccessCommand {
    let token = CreatedToken {
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

fn revoke(id: &str) -> AccessCommand {
    AccessCommand::Revoke { token_id: id.to_owned(), program: "skald token revoke".to_owned() }
}

fn give(id: &str, role: CampaignRole) -> AccessCommand {
    let (token_id, campaign_id) = (id.to_owned(), "camp_1".to_owned());
    AccessCommand::GiveRole { token_id, campaign_id, role, program: "campaign_create".to_owned() }
}

fn import() -> AccessCommand {
    AccessCommand::Import { tokens: Vec::new(), program: "skald".to_owned() }
}

/// The state after commands that are all accepted.
fn after(commands: &[AccessCommand]) -> AccessState {
    commands.iter().fold(AccessState::default(), |state, command| {
        let events = AccessRules::decide(&state, command, &given("owner")).expect("accepted");
        events.iter().fold(state, |state, event| AccessRules::evolve(state, event, &given("owner")))
    })
}

fn refused(state: &AccessState, command: &AccessCommand) -> AccessRefusal {
    AccessRules::decide(state, command, &given("owner")).expect_err("refused")
}

#[test]
fn a_token_says_who_made_it_and_how() {
    let state = after(&[create("token_a", "ana")]);
    let made = &state.valid("token_a").expect("a token").made;
    assert_eq!((made.by.as_str(), made.program.as_str()), ("owner", "skald token create"));
    let exists = AccessRefusal::TokenExists { token_id: "token_a".to_owned() };
    assert_eq!(refused(&state, &create("token_a", "bo")), exists);
}

#[test]
fn what_was_revoked_is_still_known_and_stays_revoked() {
    let state = after(&[create("token_a", "ana"), revoke("token_a")]);
    assert_eq!(state.valid("token_a"), None);
    assert_eq!(
        state.get("token_a").and_then(|token| token.revoked.clone()).expect("revoked").program,
        "skald token revoke"
    );
    let gone = AccessRefusal::TokenNotFound { token_id: "token_a".to_owned() };
    for command in [revoke("token_a"), give("token_a", CampaignRole::Gm)] {
        assert_eq!(refused(&state, &command), gone);
    }
    assert!(matches!(refused(&state, &create("token_a", "ana")), AccessRefusal::TokenExists { .. }));
}

#[test]
fn a_role_is_given_once() {
    let state = after(&[create("token_a", "ana"), give("token_a", CampaignRole::Player)]);
    let held = AccessRefusal::RoleHeld { token_id: "token_a".to_owned() };
    for role in [CampaignRole::Guest, CampaignRole::Player] {
        assert_eq!(refused(&state, &give("token_a", role)), held);
    }
    assert!(AccessRules::decide(&state, &give("token_a", CampaignRole::Gm), &given("owner")).is_ok());
}

#[test]
fn tokens_from_before_are_taken_over_first_or_not_at_all() {
    assert_eq!(refused(&after(&[import()]), &import()), AccessRefusal::TooLateToImport);
    assert_eq!(refused(&after(&[create("token_a", "ana")]), &import()), AccessRefusal::TooLateToImport);
}

#[test]
fn tokens_of_one_person_are_the_same_person() {
    let state = after(&[
        create("token_a", "ana"),
        create("token_b", "ana"),
        create("token_c", "bo"),
        create("token_d", OWNER),
        revoke("token_b"),
    ]);
    assert_eq!(state.same_person("token_a"), ["token_b"], "also once it is revoked");
    assert_eq!(state.same_person("token_c"), Vec::<String>::new());
    assert_eq!(state.same_person("token_d"), [OWNER]);
    assert_eq!(state.same_person(OWNER), ["token_d"]);
    assert_eq!(state.same_person("token_x"), Vec::<String>::new());
}

#[test]
fn a_name_in_another_spelling_is_the_same_person() {
    assert_eq!(person_of("  Ana   MARIA "), "ana maria");
    assert_eq!(person_of("Ana Maria"), person_of("ana maria"));
}
