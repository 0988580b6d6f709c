//! Repairs links that disagree. The parent that a thing names counts, if that parent exists; otherwise it belongs to
//! the first that lists it, or to none. Lists keep their order, lose wrong entries and gain missing ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Repairs;
use crate::universe::check_bounds::truncate_for_message;

/// Ids that one reason names.
const IDS_SHOWN_MAX: usize = 5;

/// A kind of things that have parents and children among themselves: bodies, or groups.
pub(super) struct Hierarchy {
    things: &'static str,
    parent: &'static str,
    roots: &'static str,
    /// The id of the member that an entry in a list of children names; `None` if it names something else.
    member: fn(&Value) -> Option<&str>,
    /// The entry that names a member.
    entry: fn(&str) -> Value,
}

pub(super) const BODIES: Hierarchy =
    Hierarchy { things: "stars", parent: "parentId", roots: "rootIds", member: Value::as_str, entry: |id| json!(id) };

pub(super) const GROUPS: Hierarchy = Hierarchy {
    things: "groups",
    parent: "parentGroupId",
    roots: "rootGroupIds",
    member: |entry| entry.get("id").filter(|_| entry["type"] == "group").and_then(Value::as_str),
    entry: |id| json!({"id": id, "type": "group"}),
};

/// The sent links of a hierarchy. Members are numbered in the order of their map.
struct Members {
    ids: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// The parent that each member names.
    parent_ids: Vec<Option<String>>,
    children: Vec<Vec<Value>>,
    /// Rogue planets may be missing from the list of roots.
    is_rogue: Vec<bool>,
}

impl Members {
    /// The reason why a member's parent changes, with the new value; `None` if it does not change.
    fn parent_reason(&self, number: usize, parent: Option<usize>) -> Option<String> {
        let parent_id = self.parent_ids[number].as_deref();
        let now = parent.map(|parent| self.ids[parent].as_str());
        if parent_id == now {
            return None;
        }
        let was = match parent_id {
            None => "is null".to_owned(),
            Some(parent_id) if parent_id == self.ids[number] => "is its own id".to_owned(),
            Some(parent_id) if self.numbers.contains_key(parent_id) => {
                "leads in a ring, back to where it began".to_owned()
            }
            Some(parent_id) => format!("is {:?}, which is not there", truncate_for_message(parent_id)),
        };
        Some(match now {
            None => format!("{was}; it is null now"),
            Some(now) => format!("{was}; it is {:?} now, which lists it", truncate_for_message(now)),
        })
    }
}

/// The repaired hierarchy: the numbers of the roots, and of the children of each member, ascending.
struct ChildrenByParent {
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
}

impl Hierarchy {
    pub(super) fn repair(&self, state: &mut Map<String, Value>, repairs: &mut Repairs) {
        let Some(members) = self.parse_members(state) else { return };
        let parents = self.resolve_parents(&members, repairs);
        let mut by_parent = ChildrenByParent { roots: Vec::new(), children: vec![Vec::new(); parents.len()] };
        for (number, parent) in parents.iter().enumerate() {
            parent.map_or(&mut by_parent.roots, |parent| &mut by_parent.children[parent]).push(number);
        }
        let roots = match state.get(self.roots) {
            None => Vec::new(),
            Some(Value::Array(roots)) => roots.clone(),
            Some(_) => return,
        };
        if let Some((roots, reason)) = self.repair_list(&members, &by_parent.roots, None, &roots) {
            repairs.add(&[self.roots], reason);
            state.insert(self.roots.to_owned(), roots.into());
        }
        let Some(Value::Object(things)) = state.get_mut(self.things) else { return };
        for (number, thing) in things.values_mut().enumerate() {
            let Value::Object(thing) = thing else { return };
            let parent = parents[number].map_or(Value::Null, |parent| members.ids[parent].as_str().into());
            if thing.get(self.parent).unwrap_or(&Value::Null) != &parent {
                thing.insert(self.parent.to_owned(), parent);
            }
            let listed =
                self.repair_list(&members, &by_parent.children[number], Some(number), &members.children[number]);
            if let Some((children, reason)) = listed {
                repairs.add(&[self.things, &members.ids[number], "children"], reason);
                thing.insert("children".to_owned(), children.into());
            }
        }
    }

    /// `None` if the shape is wrong: parsing then reports the fault.
    fn parse_members(&self, state: &Map<String, Value>) -> Option<Members> {
        let things = state.get(self.things)?.as_object()?;
        let mut members =
            Members { ids: vec![], numbers: BTreeMap::new(), parent_ids: vec![], children: vec![], is_rogue: vec![] };
        for (number, (id, thing)) in things.iter().enumerate() {
            let thing = thing.as_object()?;
            members.ids.push(id.clone());
            members.numbers.insert(id.clone(), number);
            members.parent_ids.push(match thing.get(self.parent) {
                None | Some(Value::Null) => None,
                Some(Value::String(parent)) => Some(parent.clone()),
                Some(_) => return None,
            });
            members.children.push(match thing.get("children") {
                None => Vec::new(),
                Some(children) => children.as_array()?.clone(),
            });
            members.is_rogue.push(thing.get("isRoguePlanet") == Some(&Value::Bool(true)));
        }
        Some(members)
    }

    /// Determines the parent of each member.
    fn resolve_parents(&self, members: &Members, repairs: &mut Repairs) -> Vec<Option<usize>> {
        let sent_parents = members.parent_ids.iter().enumerate().map(|(number, parent_id)| {
            parent_id
                .as_ref()
                .and_then(|parent| members.numbers.get(parent))
                .copied()
                .filter(|parent| *parent != number)
        });
        let mut parents: Vec<Option<usize>> = sent_parents.collect();
        break_cycles(&mut parents);
        let mut root_finder = RootFinder(parents.clone());
        for (lister, children) in members.children.iter().enumerate() {
            for child in children.iter().filter_map(|entry| members.numbers.get((self.member)(entry)?)) {
                // A parent below the child would create a cycle.
                if parents[*child].is_none() && root_finder.root_of(lister) != *child {
                    parents[*child] = Some(lister);
                    root_finder.0[*child] = Some(lister);
                }
            }
        }
        for (number, parent) in parents.iter().enumerate() {
            if let Some(reason) = members.parent_reason(number, *parent) {
                repairs.add(&[self.things, &members.ids[number], self.parent], reason);
            }
        }
        parents
    }

    /// The corrected list of a member's children, or of the roots, and the reason; `None` if the list is correct. `own`
    /// are the members that belong there.
    fn repair_list(
        &self,
        members: &Members,
        own: &[usize],
        lister: Option<usize>,
        entries: &[Value],
    ) -> Option<(Vec<Value>, String)> {
        let belongs = |member: &usize| own.binary_search(member).is_ok();
        // The flag tells members from systems, since a system may have the id of a group.
        let (mut list, mut seen) = (Vec::with_capacity(entries.len()), BTreeSet::<(bool, &str)>::new());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for entry in entries {
            let id = if lister.is_none() { entry.as_str() } else { (self.member)(entry) };
            let is_right = match id.and_then(|id| members.numbers.get(id)) {
                Some(member) => belongs(member),
                // A group may list systems, even removed ones.
                None => id.is_none() && lister.is_some(),
            };
            let other = || entry["id"].as_str().unwrap_or_default();
            if is_right && seen.insert((id.is_some(), id.unwrap_or_else(other))) {
                list.push(entry.clone());
            } else {
                removed.push(id.unwrap_or_else(other));
            }
        }
        for number in own {
            let id = &members.ids[*number];
            let may_be_missing = lister.is_none() && members.is_rogue[*number];
            if !may_be_missing && seen.insert((true, id)) {
                list.push(if lister.is_none() { json!(id) } else { (self.entry)(id) });
                added.push(id.as_str());
            }
        }
        let reasons = [("listed what does not belong there: ", removed), ("did not list ", added)];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(_, ids)| !ids.is_empty())
            .map(|(reason, ids)| format!("{reason}{}", format_ids(&ids)))
            .collect();
        (!reasons.is_empty()).then(|| (list, reasons.join("; ")))
    }
}

/// Breaks every cycle by clearing the parent of one of its members.
fn break_cycles(parents: &mut [Option<usize>]) {
    let mut walked_in: Vec<Option<usize>> = vec![None; parents.len()];
    for walk in 0..parents.len() {
        let mut next = Some(walk);
        while let Some(number) = next {
            match walked_in[number] {
                Some(before) if before == walk => {
                    parents[number] = None;
                    break;
                }
                Some(_) => break,
                None => walked_in[number] = Some(walk),
            }
            next = parents[number];
        }
    }
}

/// Finds the root above a member: a union-find with path compression.
struct RootFinder(Vec<Option<usize>>);

impl RootFinder {
    fn root_of(&mut self, member: usize) -> usize {
        let mut root = member;
        while let Some(above) = self.0[root] {
            root = above;
        }
        let mut next = member;
        while let Some(above) = self.0[next] {
            self.0[next] = Some(root);
            next = above;
        }
        root
    }
}

fn format_ids(ids: &[&str]) -> String {
    let shown: Vec<String> =
        ids.iter().take(IDS_SHOWN_MAX).map(|id| format!("{:?}", truncate_for_message(id))).collect();
    match ids.len().checked_sub(IDS_SHOWN_MAX).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", shown.join(", ")),
        None => shown.join(", "),
    }
}
