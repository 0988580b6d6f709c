//! A universe written as JSON, and written again after a change at the cost of what changed: a body that is still the
//! same is copied from the last writing, and not looked at.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use domain::universe::{Id, Star, UniverseState};
use serde::Serialize;

use crate::Document;
use crate::answer::quote;

/// One revision of a universe.
#[derive(Debug)]
pub(super) struct Sheet {
    /// What was written. It holds the bodies, so that none of another revision can be taken for one of them.
    of: UniverseState,
    /// Who it is, and the state as the last field.
    record: Bytes,
    /// The state, which is a part of the record.
    state: Written,
    /// The same as a JSON text.
    quoted: OnceLock<Written>,
}

/// A state in one of its forms.
#[derive(Debug)]
struct Written {
    bytes: Bytes,
    /// Where the first body begins, and where each ends. Each begins with the comma before it, the first with the brace.
    ends: Vec<usize>,
}

impl Written {
    fn after_bodies(&self) -> usize {
        match self.ends[..] {
            // Without any there is still the brace.
            [first] => first + 1,
            _ => self.ends[self.ends.len() - 1],
        }
    }
}

/// Where bodies of a writing come from, in order.
enum Run<'a> {
    /// These rows of the last one.
    Same(Range<usize>),
    New(Vec<(&'a Id, &'a Arc<Star>)>),
}

impl Sheet {
    /// Writes a universe. `about` is an object that is not empty, to which the state is added.
    pub(super) fn write(about: &impl Serialize, of: &UniverseState, last: Option<&Self>) -> serde_json::Result<Self> {
        let runs = runs(of, last.map(|last| &last.of));
        let mut json = Vec::with_capacity(last.map_or(0, |last| last.record.len() + last.record.len() / 8));
        serde_json::to_writer(&mut json, about)?;
        json.pop();
        json.extend_from_slice(b",\"state\":");
        let start = json.len();
        json.extend_from_slice(b"{\"stars\":");
        let last_state = last.map(|last| &last.state);
        let ends = rows(&runs, last_state, &mut json, start, |_, (id, star), json| {
            serde_json::to_writer(&mut *json, id)?;
            json.push(b':');
            serde_json::to_writer(json, &**star)
        })?;
        // What follows is an object too; its brace becomes the comma between.
        json.push(b'}');
        let rest = json.len();
        serde_json::to_writer(&mut json, &of.beside_bodies())?;
        json[rest] = b',';
        let end = json.len();
        json.push(b'}');
        let record = Bytes::from(json);
        let state = Written { bytes: record.slice(start..end), ends };
        // Whoever wanted the last one as a text will want this one so.
        let quoted = last.and_then(|last| last.quoted.get()).map(|last| quoted(&state, &runs, Some(last)));
        Ok(Self { of: of.clone(), record, state, quoted: quoted.map(OnceLock::from).unwrap_or_default() })
    }

    pub(super) fn record(&self) -> &Bytes {
        &self.record
    }
}

impl Document for Sheet {
    fn json(&self) -> &Bytes {
        &self.state.bytes
    }

    fn quoted(&self) -> &Bytes {
        let quoted = self.quoted.get_or_init(|| quoted(&self.state, &runs(&self.of, None), None));
        &quoted.bytes
    }
}

/// Which bodies are as they were, and which are new or changed. Those that have gone are in no run.
fn runs<'a>(now: &'a UniverseState, last: Option<&UniverseState>) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut before = last.into_iter().flat_map(|last| last.snapshot().bodies()).enumerate().peekable();
    for (id, star) in now.snapshot().bodies() {
        // The same body is at the same address: the last writing holds it.
        while before.next_if(|(_, (other, old))| !Arc::ptr_eq(old, star) && *other < id).is_some() {}
        let same = before.next_if(|(_, (_, old))| Arc::ptr_eq(old, star)).map(|(row, _)| row);
        match (same, runs.last_mut()) {
            (Some(row), Some(Run::Same(rows))) if rows.end == row => rows.end += 1,
            (Some(row), _) => runs.push(Run::Same(row..row + 1)),
            (None, Some(Run::New(bodies))) => bodies.push((id, star)),
            (None, _) => runs.push(Run::New(vec![(id, star)])),
        }
    }
    runs
}

/// Writes the bodies with the brace before them, from `base` on, and says where they are.
fn rows<E>(
    runs: &[Run],
    last: Option<&Written>,
    out: &mut Vec<u8>,
    base: usize,
    mut write: impl FnMut(usize, (&Id, &Arc<Star>), &mut Vec<u8>) -> Result<(), E>,
) -> Result<Vec<usize>, E> {
    let first = out.len();
    let mut ends = vec![first - base];
    for run in runs {
        match (run, last) {
            (Run::Same(rows), Some(last)) => {
                let (from, to) = (last.ends[rows.start], last.ends[rows.end]);
                let moved = out.len();
                out.extend_from_slice(&last.bytes[from..to]);
                out[moved] = b',';
                ends.extend(last.ends[rows.start + 1..=rows.end].iter().map(|end| end - from + moved - base));
            }
            (Run::Same(_), None) => unreachable!("nothing is the same as what is not there"),
            (Run::New(bodies), _) => {
                for body in bodies {
                    out.push(b',');
                    write(ends.len() - 1, *body, out)?;
                    ends.push(out.len() - base);
                }
            }
        }
    }
    match out.get_mut(first) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    Ok(ends)
}

/// A state as a JSON text, quotes included. A body that was copied is copied here too.
fn quoted(state: &Written, runs: &[Run], last: Option<&Written>) -> Written {
    let json = &state.bytes;
    let mut text = Vec::with_capacity(json.len() + json.len() / 4);
    text.push(b'"');
    quote(&json[..state.ends[0]], &mut text);
    let ends = rows(runs, last, &mut text, 0, |row, _, text| {
        // Behind the comma.
        quote(&json[state.ends[row] + 1..state.ends[row + 1]], text);
        Ok::<(), std::convert::Infallible>(())
    });
    let ends = match ends {
        Ok(ends) => ends,
        Err(never) => match never {},
    };
    quote(&json[state.after_bodies()..], &mut text);
    text.push(b'"');
    Written { bytes: text.into(), ends }
}

#[cfg(test)]
mod tests {
    use domain::decider::{Decider, Given};
    use domain::universe::{Command, Universe, UniverseCommand, UniverseRules};
    use jiff::Timestamp;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn done(universe: Universe, command: &UniverseCommand) -> Universe {
        let given = Given { at: Timestamp::UNIX_EPOCH, by: "test".to_owned() };
        match UniverseRules::decide(&universe, command, &given) {
            Ok(events) => {
                events.iter().fold(universe, |universe, event| UniverseRules::evolve(universe, event, &given))
            }
            // Some of what is made up is refused.
            Err(_) => universe,
        }
    }

    fn sent(universe: Universe, command: &Value) -> Universe {
        done(universe, &UniverseCommand::Apply(vec![Arc::new(Command::read(command).unwrap().0)]))
    }

    fn command(kind: u8, id: &str, other: &str) -> Value {
        let star = json!({
            "name": format!("\"{id}\" \\ ü"), "mass": 1.5, "radius": 1, "color": "#FFFFFF", "parentId": null,
            "orbitalDistance": 1, "orbitalSpeed": 1, "orbitalPhase": 0
        });
        match kind {
            0..=2 => json!({"type": "addStar", "id": id, "payload": star}),
            3 => json!({"type": "removeStar", "id": id}),
            4 => json!({"type": "attachStar", "childId": id, "parentId": other}),
            5 => json!({"type": "updateStar", "id": id, "payload": {"mass": 7}}),
            _ => json!({"type": "tick"}),
        }
    }

    fn is_right(sheet: &Sheet, about: &Value, universe: &Universe) {
        let state = serde_json::to_string(universe.state()).unwrap();
        assert_eq!(sheet.json(), &state);
        assert_eq!(sheet.quoted(), &Value::from(state.clone()).to_string());
        let mut record = about.clone();
        record["state"] = serde_json::from_str(&state).unwrap();
        assert_eq!(sheet.record(), &record.to_string());
    }

    proptest! {
        #[test]
        fn whatever_changes_is_written_as_if_anew(
            commands in prop::collection::vec((0..8_u8, "[a-e]\"?", "[a-e]", any::<bool>()), 0..40),
        ) {
            let about = json!({"id": "u", "revision": 1});
            let create = UniverseCommand::Create { id: "u".into(), name: "U".into(), campaign_id: None, state: None };
            let mut universe = done(Universe::default(), &create);
            let mut last = Sheet::write(&about, universe.state(), None).unwrap();
            is_right(&last, &about, &universe);
            for (kind, id, other, is_written) in commands {
                universe = sent(universe, &command(kind, &id, &other));
                if is_written {
                    last = Sheet::write(&about, universe.state(), Some(&last)).unwrap();
                    // Every other one has been asked for as a text when the next comes.
                    if kind % 2 == 0 {
                        is_right(&last, &about, &universe);
                    } else {
                        prop_assert_eq!(last.json(), &serde_json::to_string(universe.state()).unwrap());
                    }
                }
            }
            is_right(&last, &about, &universe_of(&last));
        }
    }

    fn universe_of(sheet: &Sheet) -> Universe {
        let create = UniverseCommand::Create {
            id: "u".into(),
            name: "U".into(),
            campaign_id: None,
            state: Some(sheet.of.clone().into()),
        };
        done(Universe::default(), &create)
    }
}
