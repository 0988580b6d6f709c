//! The page about notation: every example in it is read, and means what it says.

use domain::dice::notation::{Dialect, parse};
use serde_json::json;

use crate::engine::call;

fn page() -> String {
    call("dice_notation", json!({})).expect("the page")["text"].as_str().expect("a text").to_owned()
}

/// The first cells of the tables, by their code.
fn examples(section: &str) -> Vec<String> {
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split(" | ").next()).map(|cell| cell.trim_start_matches("| ").to_owned());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn every_example_is_notation() {
    let page = page();
    let (tables, dialects) = page.split_once("## Dialects").expect("two parts");
    let found = examples(tables);
    assert!(found.len() > 25, "{found:?}");
    for example in found {
        assert!(parse(&example, Dialect::Auto).is_ok(), "{example}");
        assert!(call("odds", json!({"expression": example})).is_ok(), "{example} has no odds");
        assert!(call("roll", json!({"expression": example})).is_ok(), "{example} cannot be rolled");
    }
    for example in examples(dialects) {
        assert!(parse(&example, Dialect::Foundry).is_ok() && parse(&example, Dialect::Roll20).is_ok(), "{example}");
    }
}

#[test]
fn a_rolls_chance_is_that_of_its_result_or_better() {
    let roll = |expression: &str| {
        let rng = json!({"seed": 42, "roll_mode": "REPLAY"});
        call("roll", json!({"expression": expression, "rng": rng})).expect("a roll")
    };
    let rolled = roll("2d6");
    let total = rolled["total"].as_i64().expect("a total");
    let odds = call("odds", json!({"expression": "2d6", "from": total})).expect("odds");
    assert_eq!(odds["values"][0]["at_least"], rolled["chance"]["decimal"]);
    assert_eq!(roll("2d20kh1 >= 15")["chance"]["fraction"], "51/100");
    assert_eq!(roll("6x(4d6kh3)")["rolls"].as_array().map(Vec::len), Some(6));
    assert_eq!(roll("duality(+2, dc 15)")["chance"]["fraction"], "7/12", "84 of 144");
}

#[test]
fn what_is_needed_gives_the_chance_that_was_asked_for() {
    let need = |expression: &str, target: f64| {
        call("odds", json!({"expression": expression, "target": target})).expect("odds")["need"].clone()
    };
    assert_eq!(need("1d20", 0.5)["difficulty"], 11);
    assert_eq!(need("1d20 >= 15", 0.5)["modifier"], 4);
    assert_eq!(need("1d20 > 15", 0.5)["modifier"], 5);
    assert_eq!(need("1d20 <= 5", 0.5)["modifier"], -5);
    assert_eq!(need("1d20 < 5", 0.5)["modifier"], -6);
    for expression in ["2d6+3", "4d6kh3", "3d6!"] {
        let need = need(expression, 0.6);
        let check = format!("{expression} >= {}", need["difficulty"]);
        let chance = call("odds", json!({"expression": check})).expect("odds")["success"]["decimal"].clone();
        assert_eq!(chance, need["chance"]["decimal"], "{check}");
        assert!(chance.as_f64() >= Some(0.6), "{check}");
    }
    assert!(need("1d20 = 5", 0.5).is_null());
}

#[test]
fn a_long_table_is_cut_and_can_be_asked_for() {
    let odds = call("odds", json!({"expression": "100d6"})).expect("odds");
    let values = odds["values"].as_array().expect("values");
    assert_eq!((values.len(), &odds["truncated"]), (60, &json!(true)));
    assert!(values.iter().any(|row| row["value"] == 350), "the middle is listed");
    let tail = call("odds", json!({"expression": "100d6", "from": 590})).expect("odds");
    assert_eq!(tail["values"].as_array().map(Vec::len), Some(11));
    assert!(odds.to_string().len() < 40_000, "{} characters", odds.to_string().len());
}
