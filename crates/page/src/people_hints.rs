//! Hints of errors for people who read a page. The catalogue's hints are written for programs: they name operations and
//! fields. Here each such clause names a page or a button instead, or is left out.

/// Where a page has what an operation does: the operation, and the clause that names the page.
const PAGES: [(&str, &str); 18] = [
    ("campaign_create", "game masters create one on Home"),
    ("campaign_read", "the table of the campaign shows them"),
    ("canon", "the page Canon lists what waits for a decision"),
    ("create_posts", "\"Add a post\" on the page of the entry adds them"),
    ("events_list", "the log of the session has it"),
    ("find_entities", "the search of the lore finds it"),
    ("get_entities", "the page of the entry has all of it"),
    ("kanka_mirror", "the page Kanka of the lore shows it"),
    ("lore_history", "\"History\" on the page of the entry has the versions"),
    ("session_start", "the game master starts one at the table"),
    ("state_gate.create_run", "your AI can start one"),
    ("state_gate.get_state", "the page of the run shows it"),
    ("state_gate.list_events", "the page of the run shows what is possible now"),
    ("state_gate.list_runs", "the page Runs has them"),
    ("timeline", "the page Timeline has it"),
    ("universe", "the page Sky makes one"),
    ("universe_read", "the page Sky has it"),
    ("universes://list", "the page Sky has them"),
];

/// A hint in words for people; `None` if nothing of it is left.
pub(crate) fn hint_for_people(hint: &str) -> Option<String> {
    let mut clauses: Vec<&str> = Vec::new();
    for clause in hint.split("; ").filter_map(clause_for_people) {
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// A clause as it is, the clause of the page that has what the clause names, or nothing.
fn clause_for_people(clause: &str) -> Option<&str> {
    let words = || clause.split(|letter: char| !(letter.is_alphanumeric() || "_.:/-".contains(letter)));
    let quoted = clause.split('`').nth(1);
    let is_operation =
        |word: &str, name: &str| word == name && (name.contains(['_', '.', ':']) || quoted == Some(name));
    let page = PAGES.iter().find(|(name, _)| words().any(|word| is_operation(word.trim_end_matches(['.', ':']), name)));
    if let Some((_, page)) = page {
        return Some(page);
    }
    // A command of the terminal is for the person who runs the server.
    if quoted.is_some_and(|quoted| quoted.starts_with("skald ")) {
        return Some(clause);
    }
    let is_field = |word: &str| {
        let inner = word.trim_matches('_');
        inner.contains('_')
            && inner.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
    };
    let is_for_programs =
        quoted.is_some() || words().any(is_field) || clause.contains("GET /") || clause.contains("cursor");
    (!is_for_programs).then_some(clause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_of_pages_and_not_of_operations() {
        for (hint, shown) in [
            ("look at the list", Some("look at the list")),
            (
                "send an id; `universes://list` has them; `universe` creates one",
                Some("send an id; the page Sky has them; the page Sky makes one"),
            ),
            (
                "begin one first; `session_start` does it",
                Some("begin one first; the game master starts one at the table"),
            ),
            ("send campaign_id; `set_context` says it once for all", None),
            (
                "send a roll_id of this campaign; events_list with types [\"roll\"] lists them",
                Some("the log of the session has it"),
            ),
            ("send the next cursor as it was answered, or none for the first page", None),
            (
                "use `skald kanka`, or a server that `skald serve` runs",
                Some("use `skald kanka`, or a server that `skald serve` runs"),
            ),
            ("another universe of this timeline", Some("another universe of this timeline")),
            ("`tracker` sets it", None),
            ("GET /api/v1/openapi.json lists the REST routes; MCP is at /mcp", Some("MCP is at /mcp")),
            (
                "read the whole entry with `get_entities` first, or send only the new part as entry_append",
                Some("the page of the entry has all of it"),
            ),
        ] {
            assert_eq!(hint_for_people(hint).as_deref(), shown, "{hint}");
        }
    }
}
