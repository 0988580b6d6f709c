//! Adapts hints to a client: removes clauses that name tools or resources the client does not have. A name is in
//! backticks, and a clause ends with a semicolon.

use std::borrow::Cow;

use crate::{Catalogue, Exposed, Fault, Visible};

/// How the name of an operation is written for a client.
type Written = fn(&'static str) -> Cow<'static, str>;

impl Fault {
    /// Adapts the hint to a client: it names no tool and no resource that the client does not have.
    #[must_use]
    pub fn for_client(self, catalogue: &Catalogue, visible: Visible, written: Written) -> Self {
        let Some(hint) = self.body().hint.clone().filter(|hint| hint.contains('`')) else { return self };
        let clauses: Vec<String> =
            hint.split("; ").filter_map(|clause| shown(clause, catalogue, visible, written)).collect();
        if clauses.is_empty() { self.without_hint() } else { self.hint(clauses.join("; ")) }
    }
}

/// One clause with its names as the client has them; `None` if it names what the client does not have.
fn shown(clause: &str, catalogue: &Catalogue, visible: Visible, written: Written) -> Option<String> {
    // Every second part was between backticks.
    let parts = clause.split('`').enumerate().map(|(at, part)| {
        if at % 2 == 0 { Some(Cow::Borrowed(part)) } else { name(part, catalogue, visible, written) }
    });
    Some(parts.collect::<Option<Vec<_>>>()?.join("`"))
}

fn name<'a>(name: &'a str, catalogue: &Catalogue, visible: Visible, written: Written) -> Option<Cow<'a, str>> {
    if let Some(entry) = catalogue.operations().iter().find(|entry| entry.name == name) {
        let is_tool = entry.exposed == Exposed::Everywhere && visible.admits(entry);
        return is_tool.then(|| written(entry.name));
    }
    let resource = catalogue.resources().iter().find(|resource| resource.fields(name).is_some());
    let is_hidden = resource.is_some_and(|resource| !visible.toolsets.contains(resource.toolset));
    (!is_hidden).then_some(Cow::Borrowed(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn hint(given: &str, toolsets: &str, read_only: bool) -> Option<String> {
        let visible = Visible { toolsets: toolsets.parse().unwrap(), read_only };
        let fault = Fault::new(Code::NotFound, "no").hint(given);
        let written = |name: &'static str| Cow::Owned(name.replace('.', "_"));
        fault.for_client(&Catalogue::whole(), visible, written).body().hint.clone()
    }

    #[test]
    fn a_clause_about_what_is_not_offered_is_left_out() {
        let given = "send an id; `universes://list` has them; `universe` creates one; `skald serve` helps; see `x; y`";
        assert_eq!(hint(given, "all", false).as_deref(), Some(given));
        let without = |clause: &str| given.replace(clause, "");
        assert_eq!(hint(given, "universe", false), Some(without("`universe` creates one; ")));
        assert_eq!(hint(given, "campaign", false), Some(without("`universes://list` has them; ")));
        assert_eq!(hint(given, "all", true), Some(without("`universe` creates one; ")));
        assert_eq!(hint("`universe` creates one", "universe", false), None);
        assert_eq!(hint("another universe", "dice", true).as_deref(), Some("another universe"), "a word is no name");
        assert_eq!(hint("`universe_read` has it", "all", false), None, "it is no tool");
        assert_eq!(hint("`state_gate.get_state`", "gate", false).as_deref(), Some("`state_gate_get_state`"));
    }
}
