//! Tests of the page about dice notation: every example parses and means what the page says.

use serde_json::json;
use skald_domain::dice::notation::{Dialect, parse};

use crate::engine::call;

fn notation_page() -> String {
    call("dice_notation", json!({})).expect("the page")["text"].as_str().expect("a text").to_owned()
}

/// The code spans in the first cells of the tables.
fn code_examples(section: &str) -> Vec<String> {
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split(" | ").next()).map(|cell| cell.trim_start_matches("| ").to_owned());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn every_example_is_notation() {
    let page = notation_page();
    let (tables, dialects) = page.split_once("## Dialects").expect("two parts");
    let found = code_examples(tables);
    assert!(found.len() > 25, "{found:?}");
    for command_example in found {
        assert!(parse(&command_example, Dialect::Auto).is_ok(), "{command_example}");
        assert!(call("odds", json!({"expression": command_example})).is_ok(), "{command_example} has no odds");
        assert!(call("roll", json!({"expression": command_example})).is_ok(), "{command_example} cannot be rolled");
    }
    for command_example in code_examples(dialects) {
        assert!(
            parse(&command_example, Dialect::Foundry).is_ok() && parse(&command_example, Dialect::Roll20).is_ok(),
            "{command_example}"
        );
    }
}

#[test]
fn a_rolls_chance_is_that_of_its_result_or_better() {
    let roll = |expression: &str| {
        let rng = json!({"seed": 42, "roll_mode": "REPLAY"});
        call("roll", json!({"expression": expression, "rng": rng, "detail": "full"})).expect("a roll")
    };
    let rolled = roll("2d6");
    let total = rolled["total"].as_i64().expect("a total");
    let odds = call("odds", json!({"expression": "2d6", "from": total})).expect("odds");
    assert_eq!(odds["values"][0]["at_least"], rolled["at_least_chance"]);
    assert_eq!(rolled["success_chance"], json!(null));
    assert_eq!(roll("2d20kh1 >= 15")["success_chance"]["fraction"], "51/100");
    let repeated = roll("6x(4d6kh3)");
    let chances =
        repeated["rolls"].as_array().expect("rolls").iter().filter(|roll| roll["at_least_chance"].is_object());
    assert_eq!(chances.count(), 6);
    let duality = roll("duality(+2, dc 15)");
    assert_eq!(duality["success_chance"]["fraction"], "7/12", "84 of 144");
    assert_eq!(duality["at_least_chance"], json!(null), "a comparison has the chance of success alone");
    assert_eq!(roll("1d1000000")["at_least_chance"], json!(null));
    assert!(roll("1d1000000")["chance_unknown"].as_str().expect("a reason").contains("1,000,000 sides"));
}

#[test]
fn what_is_needed_gives_the_chance_that_was_asked_for() {
    let need = |expression: &str, target: f64| {
        call("odds", json!({"expression": expression, "target": target})).expect("odds")["need"].clone()
    };
    assert_eq!(need("1d20", 0.5)["difficulty"], 11);
    assert_eq!(need("1d20 >= 15", 0.5)["add"], 4);
    assert_eq!(need("1d20 > 15", 0.5)["add"], 5);
    assert_eq!(need("1d20 <= 5", 0.5)["add"], -5);
    assert_eq!(need("1d20 < 5", 0.5)["add"], -6);
    for expression in ["2d6+3", "4d6kh3", "3d6!"] {
        let need = need(expression, 0.6);
        let check = format!("{expression} >= {}", need["difficulty"]);
        let chance = call("odds", json!({"expression": check})).expect("odds")["success_chance"]["decimal"].clone();
        assert_eq!(chance, need["success_chance"]["decimal"], "{check}");
        assert!(chance.as_f64() >= Some(0.6), "{check}");
    }
    assert!(need("1d20 = 5", 0.5).is_null());
    let odds = call("odds", json!({"expression": "1d20 = 5", "target": 0.5})).expect("odds");
    assert!(odds["need_unknown"].as_str().expect("a reason").contains("equal"));
}

#[test]
fn a_long_table_is_cut_and_can_be_asked_for() {
    let odds = call("odds", json!({"expression": "100d6", "detail": "table"})).expect("odds");
    let values = odds["values"].as_array().expect("values");
    assert_eq!((values.len(), &odds["truncated"]), (60, &json!(true)));
    assert!(values.iter().any(|row| row["value"] == 350), "the middle is listed");
    let tail = call("odds", json!({"expression": "100d6", "from": 590})).expect("odds");
    assert_eq!((tail["values"].as_array().map(Vec::len), &tail["truncated"]), (Some(11), &json!(null)));
    let most = call("odds", json!({"expression": "100d6", "from": 200})).expect("odds");
    assert_eq!((most["values"].as_array().map(Vec::len), &most["truncated"]), (Some(200), &json!(true)));
    assert_eq!(tail["values"][10]["at_most"]["fraction"], "1/1");
    assert!(call("odds", json!({"expression": "100d6", "from": 5, "to": 4})).is_err());
    assert!(odds.to_string().len() < 40_000, "{} characters", odds.to_string().len());
}

#[test]
fn a_second_expression_is_laid_over_the_picture() {
    let asked = json!({"expression": "4d6kh3", "against": "3d6", "picture": true});
    let picture = call("odds", asked).expect("odds")["picture"].as_str().expect("a picture").to_owned();
    assert!(picture.contains("4d6kh3 and 3d6"), "{picture}");
    let duality = call("odds_picture", json!({"expression": "duality(+2, dc 15, adv)"})).expect("a picture");
    assert!(duality["text"].as_str().expect("a picture").contains("success "), "{duality}");
}
