//! Plans and dry runs as text.

use serde_json::Value;

use super::{TextPage, items, run, word};

/// The plan for the given state, or one for each final state, separated by empty lines.
pub(in crate::gate) fn plans(answer: &Value) -> String {
    let every: Vec<String> = items(&answer["plans"]).map(plan).collect();
    if every.is_empty() { plan(&answer["plan"]) } else { every.join("\n\n") }
}

fn plan(plan: &Value) -> String {
    let mut page = TextPage::default();
    let steps = items(&plan["steps"]).count();
    let (from, to) = (word(&plan["from_state"]), word(&plan["to_state"]));
    if steps == 0 {
        return format!("The run is in state {to} already.");
    }
    page.line(format!("From {from} to {to}: {steps} {}", if steps == 1 { "event" } else { "events" }));
    for (index, step) in items(&plan["steps"]).enumerate() {
        let roles: Vec<String> = items(&step["allowed_roles"]).map(word).collect();
        let roles = if roles.is_empty() { "nobody".to_owned() } else { roles.join(", ") };
        let [event, from, to] = ["event_name", "from_state", "to_state"].map(|field| word(&step[field]));
        page.line(format!("{}. {event}: {from} -> {to}, by {roles}", index + 1));
        if step["guard"].is_string() {
            page.line(format!("   guard {}: {}", word(&step["guard"]), word(&step["guard_status"])));
        }
        page.lines(items(&step["missing_requirements"]).map(|missing| format!("     {}", word(missing))));
    }
    page.text()
}

pub(in crate::gate) fn checked(check: &Value) -> String {
    let mut page = TextPage::default();
    if check["would_be_accepted"] == true {
        let moved = &check["transition"];
        page.line(format!("would be accepted: {} -> {}", word(&moved["from_state"]), word(&moved["to_state"])));
        page.section("Recorded only, since this is missing", items(&check["missing_guards"]).map(word).collect());
    } else {
        page.line("would be refused:").line(run::refused(&check["error"]));
    }
    page.text()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_for_each_ending_stands_by_itself() {
        let step = json!({"event_name": "go", "from_state": "a", "to_state": "b", "allowed_roles": ["agent"]});
        let way = |to: &str| json!({"from_state": "a", "to_state": to, "steps": [step]});
        let one = "From a to b: 1 event\n1. go: a -> b, by agent";
        assert_eq!(plans(&json!({"plan": way("b")})), one);
        let both = plans(&json!({"plans": [way("b"), way("c")]}));
        assert_eq!(both, format!("{one}\n\n{}", one.replace("to b: 1", "to c: 1")));
    }
}
