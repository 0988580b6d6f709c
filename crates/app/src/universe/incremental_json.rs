//! Incremental JSON of a universe, in chunks. The next revision shares every chunk in which no body has changed:
//! rendering it costs what has changed, and many revisions that are being sent at once take little more memory than
//! one.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Serialize;
use skald_domain::universe::{Id, Star, UniverseState};

use crate::JsonDocument;
use crate::answer::push_escaped_json;

/// Approximate size of a part. In tests parts are small, so that a few bodies need several.
const PART_BYTES: usize = if cfg!(test) { 1_000 } else { 32_768 };
/// A smaller part is merged with the next one, so that many changes do not leave many small parts.
const PART_BYTES_MIN: usize = PART_BYTES / 4;

/// The start of every state, before its bodies.
const BEFORE_BODIES: &[u8] = b"{\"stars\":{";

/// The JSON of one revision of a universe.
#[derive(Debug)]
pub(super) struct UniverseJson {
    /// The rendered state. It keeps its bodies alive, so that no body of another revision can have the same address.
    of: UniverseState,
    /// The record up to its last field, which is the state.
    before_state: JsonPart,
    bodies: Vec<Arc<BodiesPart>>,
    other_fields: Arc<JsonPart>,
    /// The last field of the state.
    time: JsonPart,
}

/// A piece of the JSON. The quoted form, for the inside of a JSON string, is made at first use.
#[derive(Debug)]
struct JsonPart {
    json: Bytes,
    quoted: OnceLock<Bytes>,
}

impl JsonPart {
    fn new(json: Vec<u8>) -> Self {
        Self { json: json.into(), quoted: OnceLock::new() }
    }

    fn bytes(&self, form: JsonForm) -> &Bytes {
        match form {
            JsonForm::Json => &self.json,
            JsonForm::Quoted => self.quoted.get_or_init(|| {
                let mut text = Vec::with_capacity(self.json.len() + self.json.len() / 4);
                push_escaped_json(&self.json, &mut text);
                text.into()
            }),
        }
    }
}

/// Consecutive bodies, each with a comma before it.
#[derive(Debug)]
struct BodiesPart {
    part: JsonPart,
    /// The end offset of each body.
    ends: Vec<usize>,
}

impl BodiesPart {
    fn body(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.part.json[start..self.ends[index]]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonForm {
    Json,
    /// Escaped for the inside of a JSON string.
    Quoted,
}

impl UniverseJson {
    /// Renders a universe, sharing unchanged parts with `last`. `about` is a non-empty object, to which the state is
    /// added.
    pub(super) fn render(about: &impl Serialize, of: &UniverseState, last: Option<&Self>) -> serde_json::Result<Self> {
        let mut before_state = serde_json::to_vec(about)?;
        before_state.pop();
        before_state.extend_from_slice(b",\"state\":");
        // End the bodies, then append the other fields: the object's opening brace becomes a comma, the closing one is
        // cut.
        let mut other_fields = b"}".to_vec();
        serde_json::to_writer(&mut other_fields, &of.without_bodies_and_time())?;
        other_fields[1] = b',';
        other_fields.pop();
        let shared = last.map(|last| &last.other_fields).filter(|last| last.json == other_fields);
        let other_fields = shared.map_or_else(|| Arc::new(JsonPart::new(other_fields)), Arc::clone);
        let mut time = b",\"time\":".to_vec();
        serde_json::to_writer(&mut time, of.serializable_time())?;
        time.push(b'}');
        Ok(Self {
            of: of.clone(),
            before_state: JsonPart::new(before_state),
            bodies: write_bodies(of, last)?,
            other_fields,
            time: JsonPart::new(time),
        })
    }

    fn state_pieces(&self, form: JsonForm) -> Vec<Bytes> {
        let mut pieces = Vec::with_capacity(self.bodies.len() + 3);
        pieces.push(match form {
            JsonForm::Json => Bytes::from_static(BEFORE_BODIES),
            JsonForm::Quoted => Bytes::from_static(b"{\\\"stars\\\":{"),
        });
        for (index, bodies) in self.bodies.iter().enumerate() {
            // The very first body has no comma before it.
            pieces.push(bodies.part.bytes(form).slice(usize::from(index == 0)..));
        }
        pieces.push(self.other_fields.bytes(form).clone());
        pieces.push(self.time.bytes(form).clone());
        pieces
    }

    fn record_pieces(&self, form: JsonForm) -> Vec<Bytes> {
        let mut pieces = vec![self.before_state.bytes(form).clone()];
        pieces.append(&mut self.state_pieces(form));
        pieces.push(Bytes::from_static(b"}"));
        pieces
    }
}

/// The state of a universe as an answer.
#[derive(Debug)]
pub(super) struct StateDocument(pub Arc<UniverseJson>);

/// A universe with its name, its revision and its state as an answer.
#[derive(Debug)]
pub(super) struct RecordDocument(pub Arc<UniverseJson>);

impl JsonDocument for StateDocument {
    fn json(&self) -> Vec<Bytes> {
        self.0.state_pieces(JsonForm::Json)
    }

    fn quoted_json(&self) -> Vec<Bytes> {
        wrap_in_quotes(self.0.state_pieces(JsonForm::Quoted))
    }
}

impl JsonDocument for RecordDocument {
    fn json(&self) -> Vec<Bytes> {
        self.0.record_pieces(JsonForm::Json)
    }

    fn quoted_json(&self) -> Vec<Bytes> {
        wrap_in_quotes(self.0.record_pieces(JsonForm::Quoted))
    }
}

fn wrap_in_quotes(mut pieces: Vec<Bytes>) -> Vec<Bytes> {
    pieces.insert(0, Bytes::from_static(b"\""));
    pieces.push(Bytes::from_static(b"\""));
    pieces
}

/// Consecutive bodies of a new rendering, by where their JSON comes from.
enum BodyRun<'a> {
    /// From the last rendering, where they have these indices.
    Same(Range<usize>),
    New(Vec<(&'a Id, &'a Arc<Star>)>),
}

/// Splits the bodies into runs of unchanged ones and runs of new or changed ones. Removed bodies are in no run.
fn split_into_runs<'a>(now: &'a UniverseState, last: Option<&UniverseState>) -> Vec<BodyRun<'a>> {
    let mut runs: Vec<BodyRun<'a>> = Vec::new();
    let mut before = last.into_iter().flat_map(|last| last.snapshot().bodies()).enumerate().peekable();
    for (id, star) in now.snapshot().bodies() {
        // An unchanged body has the same address, since the last rendering keeps it alive.
        while before.next_if(|(_, (other, old))| !Arc::ptr_eq(old, star) && *other < id).is_some() {}
        let same = before.next_if(|(_, (_, old))| Arc::ptr_eq(old, star)).map(|(number, _)| number);
        match (same, runs.last_mut()) {
            (Some(number), Some(BodyRun::Same(numbers))) if numbers.end == number => numbers.end += 1,
            (Some(number), _) => runs.push(BodyRun::Same(number..number + 1)),
            (None, Some(BodyRun::New(bodies))) => bodies.push((id, star)),
            (None, _) => runs.push(BodyRun::New(vec![(id, star)])),
        }
    }
    runs
}

/// Assembles parts from bodies.
#[derive(Default)]
struct BodiesWriter {
    parts: Vec<Arc<BodiesPart>>,
    /// The unfinished part.
    json: Vec<u8>,
    ends: Vec<usize>,
}

impl BodiesWriter {
    /// Makes a part of the bodies that end within `length` bytes, of at least one body.
    fn split_off_part(&mut self, length: usize) {
        let count = self.ends.partition_point(|end| *end <= length).max(1);
        let Some(length) = self.ends.get(count - 1).copied() else { return };
        let rest = self.json.split_off(length);
        let later = self.ends.split_off(count).into_iter().map(|end| end - length).collect();
        let part = JsonPart::new(std::mem::replace(&mut self.json, rest));
        self.parts.push(Arc::new(BodiesPart { part, ends: std::mem::replace(&mut self.ends, later) }));
    }

    /// Finishes the unfinished part, as two parts if it is large, so that neither is small.
    fn end_part(&mut self) {
        if self.json.len() > PART_BYTES + PART_BYTES / 2 {
            self.split_off_part(self.json.len() / 2);
        }
        self.split_off_part(self.json.len());
    }

    /// Ends a body. A part is split off only once there is enough for two, so that the rest is never small.
    fn end_body(&mut self) {
        self.ends.push(self.json.len());
        if self.json.len() >= 2 * PART_BYTES {
            self.split_off_part(PART_BYTES);
        }
    }

    fn write_body(&mut self, id: &Id, star: &Star) -> serde_json::Result<()> {
        self.json.push(b',');
        serde_json::to_writer(&mut self.json, id)?;
        self.json.push(b':');
        serde_json::to_writer(&mut self.json, star)?;
        self.end_body();
        Ok(())
    }

    fn copy_body(&mut self, body: &[u8]) {
        self.json.extend_from_slice(body);
        self.end_body();
    }

    /// Whether a whole part can be shared here: the unfinished part is empty or large enough to be finished.
    fn can_share_part(&self) -> bool {
        self.json.is_empty() || self.json.len() >= PART_BYTES_MIN
    }

    fn share_part(&mut self, part: &Arc<BodiesPart>) {
        self.end_part();
        self.parts.push(Arc::clone(part));
    }
}

fn write_bodies(of: &UniverseState, last: Option<&UniverseJson>) -> serde_json::Result<Vec<Arc<BodiesPart>>> {
    let mut writer = BodiesWriter::default();
    let mut last_parts = LastParts::new(last.map_or(&[], |last| &last.bodies));
    for run in split_into_runs(of, last.map(|last| &last.of)) {
        match run {
            BodyRun::New(bodies) => {
                for (id, star) in bodies {
                    writer.write_body(id, star)?;
                }
            }
            BodyRun::Same(numbers) => {
                let mut number = numbers.start;
                while number < numbers.end {
                    let Some((first, part)) = last_parts.find_part(number) else { break };
                    let end = first + part.ends.len();
                    if number == first && end <= numbers.end && writer.can_share_part() {
                        writer.share_part(part);
                        number = end;
                    } else {
                        let upto = end.min(numbers.end);
                        (number..upto).for_each(|number| writer.copy_body(part.body(number - first)));
                        number = upto;
                    }
                }
            }
        }
    }
    writer.end_part();
    Ok(writer.parts)
}

/// A forward-only search in the parts of the last rendering.
struct LastParts<'a> {
    parts: &'a [Arc<BodiesPart>],
    /// The index of the first body in the first remaining part.
    first: usize,
}

impl<'a> LastParts<'a> {
    fn new(parts: &'a [Arc<BodiesPart>]) -> Self {
        Self { parts, first: 0 }
    }

    /// The part that contains this body, and the index of its first body. Calls must be in rising order.
    fn find_part(&mut self, number: usize) -> Option<(usize, &'a Arc<BodiesPart>)> {
        while let [part, rest @ ..] = self.parts {
            if number < self.first + part.ends.len() {
                return Some((self.first, part));
            }
            self.first += part.ends.len();
            self.parts = rest;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use skald_domain::decider::{Decider, DecisionContext};
    use skald_domain::universe::{Command, Universe, UniverseCommand, UniverseRules};

    use super::*;

    fn apply_command(universe: Universe, command: &UniverseCommand) -> Universe {
        let given = DecisionContext { at: Timestamp::UNIX_EPOCH, by: "test".to_owned() };
        match UniverseRules::decide(&universe, command, &given) {
            Ok(events) => {
                events.iter().fold(universe, |universe, event| UniverseRules::evolve(universe, event, &given))
            }
            // Some generated commands are refused.
            Err(_) => universe,
        }
    }

    fn apply_json(universe: Universe, command: &Value) -> Universe {
        apply_command(universe, &UniverseCommand::Apply(vec![Arc::new(Command::read(command).unwrap().0)]))
    }

    fn command_json(kind: u8, id: &str, other: &str) -> Value {
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

    fn concat_text(pieces: &[Bytes]) -> String {
        String::from_utf8(pieces.concat()).unwrap()
    }

    fn assert_renders(json: &Arc<UniverseJson>, about: &Value, universe: &Universe) {
        let state = serde_json::to_string(universe.state()).unwrap();
        let mut record = about.clone();
        record["state"] = serde_json::from_str(&state).unwrap();
        let record = record.to_string();
        let documents: [(&dyn JsonDocument, String); 2] =
            [(&StateDocument(Arc::clone(json)), state), (&RecordDocument(Arc::clone(json)), record)];
        for (document, expected) in documents {
            assert_eq!(concat_text(&document.json()), expected);
            assert_eq!(concat_text(&document.quoted_json()), Value::from(expected).to_string());
        }
    }

    fn new_universe(state: Option<UniverseState>) -> Universe {
        let state = state.map(Into::into);
        let create = UniverseCommand::Create { id: "u".into(), name: "U".into(), campaign_id: None, state };
        apply_command(Universe::default(), &create)
    }

    #[test]
    fn a_change_shares_all_parts_but_its_own() {
        let about = json!({"id": "u"});
        let add = |universe: Universe, number: usize| {
            apply_json(universe, &command_json(0, &format!("body-{number:03}"), ""))
        };
        let universe = (0..100).fold(new_universe(None), add);
        let first = UniverseJson::render(&about, universe.state(), None).unwrap();
        assert!(first.bodies.len() > 10, "{} parts", first.bodies.len());
        for change in
            [command_json(5, "body-050", ""), command_json(3, "body-000", ""), command_json(0, "body-050-a", "")]
        {
            let changed = apply_json(universe.clone(), &change);
            let second = Arc::new(UniverseJson::render(&about, changed.state(), Some(&first)).unwrap());
            let is_shared = |part: &&Arc<BodiesPart>| first.bodies.iter().any(|other| Arc::ptr_eq(part, other));
            let (shared, all) = (second.bodies.iter().filter(is_shared).count(), first.bodies.len());
            assert!(shared + 3 >= all, "{change}: {shared} of {all} parts are shared");
            assert_renders(&second, &about, &changed);
        }
        let tick = apply_json(universe, &json!({"type": "tick"}));
        let second = UniverseJson::render(&about, tick.state(), Some(&first)).unwrap();
        assert!(Arc::ptr_eq(&first.other_fields, &second.other_fields), "what has not changed is shared");
    }

    #[test]
    fn changes_leave_no_crumbs_behind() {
        let about = json!({"id": "u"});
        let mut universe = (0..100).fold(new_universe(None), |universe, number| {
            apply_json(universe, &command_json(0, &format!("body-{number:03}"), ""))
        });
        let mut json = UniverseJson::render(&about, universe.state(), None).unwrap();
        for number in (0..100).filter(|number| number % 5 != 0) {
            universe = apply_json(universe, &command_json(3, &format!("body-{number:03}"), ""));
            json = UniverseJson::render(&about, universe.state(), Some(&json)).unwrap();
        }
        let small = json.bodies.iter().filter(|part| part.part.json.len() < PART_BYTES_MIN).count();
        assert!(small <= 1, "{small} of {} parts are small", json.bodies.len());
    }

    proptest! {
        #[test]
        fn whatever_changes_is_written_as_if_anew(
            commands in prop::collection::vec((0..8_u8, "[a-k]\"?", "[a-k]", any::<bool>()), 0..60),
        ) {
            let about = json!({"id": "u", "revision": 1});
            let mut universe = new_universe(None);
            let mut last = Arc::new(UniverseJson::render(&about, universe.state(), None).unwrap());
            assert_renders(&last, &about, &universe);
            for (kind, id, other, is_written) in commands {
                universe = apply_json(universe, &command_json(kind, &id, &other));
                if is_written {
                    last = Arc::new(UniverseJson::render(&about, universe.state(), Some(&last)).unwrap());
                    // Only some renderings get their quoted form before the next one shares their parts.
                    if kind % 2 == 0 {
                        assert_renders(&last, &about, &universe);
                    } else {
                        let json = StateDocument(Arc::clone(&last)).json();
                        prop_assert_eq!(concat_text(&json), serde_json::to_string(universe.state()).unwrap());
                    }
                }
            }
            assert_renders(&last, &about, &new_universe(Some(last.of.clone())));
        }
    }
}
