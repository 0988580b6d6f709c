//! Adapts hints to a client: removes clauses that name tools or resources the client does not have. A name is in
//! backticks, and a clause ends with a semicolon.

use std::borrow::Cow;

use crate::{Catalogue, Exposed, Fault, ToolsetFilter};

/// How the name of an operation is written for a client.
type WriteName = fn(&'static str) -> Cow<'static, str>;

impl Fault {
    /// Adapts the hint to a client: it names no tool and no resource that the client does not have.
    #[must_use]
    pub fn for_client(self, catalogue: &Catalogue, visible: ToolsetFilter, written: WriteName) -> Self {
        let Some(hint) = self.body().hint.clone().filter(|hint| hint.contains('`')) else { return self };
        let clauses: Vec<String> =
            hint.split("; ").filter_map(|clause| adapt_clause(clause, catalogue, visible, written)).collect();
        if clauses.is_empty() { self.without_hint() } else { self.hint(clauses.join("; ")) }
    }
}

/// One clause with its names as the client has them; `None` if it names what the client does not have.
fn adapt_clause(clause: &str, catalogue: &Catalogue, visible: ToolsetFilter, written: WriteName) -> Option<String> {
    // Every second part was between backticks.
    let parts = clause.split('`').enumerate().map(|(at, part)| {
        if at % 2 == 0 { Some(Cow::Borrowed(part)) } else { adapt_name(part, catalogue, visible, written) }
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join("`"))
}

fn adapt_name<'a>(
    name: &'a str,
    catalogue: &Catalogue,
    visible: ToolsetFilter,
    written: WriteName,
) -> Option<Cow<'a, str>> {
    if let Some(entry) = catalogue.operations().iter().find(|entry| entry.name == name) {
        let is_tool = entry.exposed == Exposed::Everywhere && visible.admits(entry);
        return is_tool.then(|| written(entry.name));
    }
    let resource = catalogue.resources().iter().find(|resource| resource.match_uri(name).is_some());
    let is_hidden = resource.is_some_and(|resource| !visible.toolsets.contains(resource.toolset));
    (!is_hidden).then_some(Cow::Borrowed(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn adapted_hint(given: &str, toolsets: &str, read_only: bool) -> Option<String> {
        let visible = ToolsetFilter { toolsets: toolsets.parse().unwrap(), read_only };
        let fault = Fault::new(Code::NotFound, "no").hint(given);
        let written = |name: &'static str| Cow::Owned(name.replace('.', "_"));
        fault.for_client(&Catalogue::from_all_nouns(), visible, written).body().hint.clone()
    }

    #[test]
    fn a_clause_about_what_is_not_offered_is_left_out() {
        let given = "send an id; `universes://list` has them; `universe` creates one; `skald serve` helps; see `x; y`";
        assert_eq!(adapted_hint(given, "all", false).as_deref(), Some(given));
        let without = |clause: &str| given.replace(clause, "");
        assert_eq!(adapted_hint(given, "universe", false), Some(without("`universe` creates one; ")));
        assert_eq!(adapted_hint(given, "campaign", false), Some(without("`universes://list` has them; ")));
        assert_eq!(adapted_hint(given, "all", true), Some(without("`universe` creates one; ")));
        assert_eq!(adapted_hint("`universe` creates one", "universe", false), None);
        assert_eq!(
            adapted_hint("another universe", "dice", true).as_deref(),
            Some("another universe"),
            "a word is no name"
        );
        assert_eq!(adapted_hint("`universe_read` has it", "all", false), None, "it is no tool");
        assert_eq!(adapted_hint("`state_gate.get_state`", "gate", false).as_deref(), Some("`state_gate_get_state`"));
    }
}
