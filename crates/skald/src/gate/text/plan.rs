//! Plans and dry runs as text.

use serde_json::Value;

use super::{TextPage, list_items, one_line, run};

/// The plan for the given state, or one for each final state, separated by empty lines.
pub(in crate::gate) fn plans(answer: &Value) -> String {
    let every: Vec<String> = list_items(&answer["plans"]).map(plan).collect();
    if every.is_empty() { plan(&answer["plan"]) } else { every.join("\n\n") }
}

fn plan(plan: &Value) -> String {
    let mut page = TextPage::default();
    let steps = list_items(&plan["steps"]).count();
    let (from, to) = (one_line(&plan["from_state"]), one_line(&plan["to_state"]));
    if steps == 0 {
        return format!("The run is in state {to} already.");
    }
    page.add_line(format!("From {from} to {to}: {steps} {}", if steps == 1 { "event" } else { "events" }));
    for (index, step) in list_items(&plan["steps"]).enumerate() {
        let roles: Vec<String> = list_items(&step["allowed_roles"]).map(one_line).collect();
        let roles = if roles.is_empty() { "nobody".to_owned() } else { roles.join(", ") };
        let [event, from, to] = ["event_name", "from_state", "to_state"].map(|field| one_line(&step[field]));
        page.add_line(format!("{}. {event}: {from} -> {to}, by {roles}", index + 1));
        if step["guard"].is_string() {
            page.add_line(format!("   guard {}: {}", one_line(&step["guard"]), one_line(&step["guard_status"])));
        }
        page.add_lines(list_items(&step["missing_requirements"]).map(|missing| format!("     {}", one_line(missing))));
    }
    page.into_text()
}

pub(in crate::gate) fn check_result(check: &Value) -> String {
    let mut page = TextPage::default();
    if check["would_be_accepted"] == true {
        let moved = &check["transition"];
        page.add_line(format!(
            "would be accepted: {} -> {}",
            one_line(&moved["from_state"]),
            one_line(&moved["to_state"])
        ));
        page.add_section(
            "Recorded only, since this is missing",
            list_items(&check["missing_guards"]).map(one_line).collect(),
        );
    } else {
        page.add_line("would be refused:").add_line(run::refused_event(&check["error"]));
    }
    page.into_text()
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
