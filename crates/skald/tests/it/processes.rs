//! Tests of several processes on one store: servers over HTTP and stdio, and the command line, all at once.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{RunningProgram, run};
use crate::rest_client::RestClient;
use crate::surface_client::{LEGACY, Surface, SurfaceClient};
use crate::test_stores::TestStore;
use skald_testkit::TemporaryFolder;

/// Writers of notes over HTTP, which keep the store busy, and their pause between two notes, which leaves processor
/// time for others.
const WRITERS: usize = 4;
const BREATH: Duration = Duration::from_millis(5);
/// Limits within which 99 % of the changes, and all of them, are visible in another process. The time of an ordinary
/// answer is added, since this and other tests overload the processors.
const SOON: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

#[test]
fn programs_on_one_file_work_together() {
    work_together("in one file", &TestStore::sqlite(), [Surface::Stdio(LEGACY), Surface::Stdio(LEGACY)], true);
}

mod postgres {
    use super::{LEGACY, Surface, TestStore};

    #[test]
    fn nodes_on_one_postgres_work_together() {
        // A backup of PostgreSQL is made with its own tools.
        super::work_together(
            "on one PostgreSQL",
            &TestStore::postgres(),
            [Surface::Rest, Surface::Stdio(LEGACY)],
            false,
        );
    }
}

/// Several processes write to one campaign for a while. No call fails, nothing is lost, and all of them soon see every
/// change.
fn work_together(what: &str, place: &TestStore, others: [Surface; 2], has_backups: bool) {
    let seconds = std::env::var("SKALD_TOGETHER_SECONDS").map_or(2, |text| text.parse().expect("a number"));
    let (_server, address) = RunningProgram::serve(&["--store", &place.address]);
    let campaign_id = RestClient::new(address).open_campaign("together");
    let is_over = AtomicBool::new(false);
    let (is_over, campaign) = (&is_over, campaign_id.as_str());
    let (notes, probes, tokens) = std::thread::scope(|scope| {
        let over = StopOnDrop(is_over);
        let notes: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write_notes(&mut RestClient::new(address), campaign, writer, is_over)))
            .collect();
        let [(to_one, from_other), (to_other, from_one)] = [channel(), channel()];
        let ends = [(to_other, from_other), (to_one, from_one)];
        let probes: Vec<_> = std::iter::zip(others, ends)
            .enumerate()
            .map(|(number, (surface, (sender, receiver)))| {
                let player = SurfaceClient::start(surface, &place.address);
                let probe = Probe { name: format!("probe {number}"), campaign, player, rest: RestClient::new(address) };
                scope.spawn(move || probe.run(&sender, &receiver, is_over))
            })
            .collect();
        let tokens = scope.spawn(move || use_command_line(place, has_backups, is_over));
        std::thread::sleep(Duration::from_secs(seconds));
        drop(over);
        let notes: Vec<String> = notes.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect();
        let probes: Vec<_> = probes.into_iter().map(|probe| probe.join().expect("a probe")).collect();
        (notes, probes, tokens.join().expect("the command line"))
    });
    let (names, waits): (Vec<_>, Vec<_>) = probes.into_iter().unzip();
    waits.into_iter().fold(ChangeDelays::default(), ChangeDelays::merge).assert_short(&format!("seen {what}"));
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for event in RestClient::new(address).history(campaign).concat() {
        let name = event["text"].as_str().or_else(|| event["name"].as_str()).unwrap_or_default().to_owned();
        *told.entry(name).or_default() += 1;
    }
    for name in notes.iter().chain(names.iter().flatten()) {
        assert_eq!(told.get(name), Some(&1), "{name}");
    }
    let listed = run(&["token", "list", "--store", &place.address]).stdout;
    let listed = String::from_utf8_lossy(&listed);
    assert!(!tokens.is_empty() && tokens.iter().all(|name| listed.contains(name)), "{tokens:?} of {listed}");
    assert_sound(&place.address);
}

/// Stops all threads when it is dropped, also by a panic: the scope would wait for them forever.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// How long changes took to be visible in another process, and how long answers took meanwhile that need no store.
#[derive(Default)]
pub(crate) struct ChangeDelays {
    pub(crate) changes: Vec<Duration>,
    pub(crate) others: Vec<Duration>,
}

impl ChangeDelays {
    fn merge(mut self, mut other: Self) -> Self {
        self.changes.append(&mut other.changes);
        self.others.append(&mut other.others);
        self
    }

    /// Prints the waits, also where the test harness captures output, and asserts that they are within the limits.
    pub(crate) fn assert_short(self, what: &str) {
        let count = self.changes.len();
        assert!(count > 10, "{what}: there are {count} changes to judge by");
        let [half, nearly_all, all] = percentiles(self.changes);
        let [_, other_nearly_all, other_all] = percentiles(self.others);
        let words = format!(
            "{what}: of {count} changes half within {half:.1?}, 99 % within {nearly_all:.1?}, all within {all:.1?}; \
             any other answer: 99 % within {other_nearly_all:.1?}, all within {other_all:.1?}"
        );
        let _ = writeln!(std::io::stderr(), "{words}");
        assert!(nearly_all < SOON.0 + other_nearly_all && all < SOON.1 + other_all, "{words}");
    }
}

/// The median, the 99th percentile and the maximum of the waits.
fn percentiles(mut waits: Vec<Duration>) -> [Duration; 3] {
    waits.sort();
    let count = waits.len();
    [count / 2, count * 99 / 100, count.saturating_sub(1)].map(|at| waits.get(at).copied().unwrap_or_default())
}

/// Writes notes until `is_over`; each must be acknowledged. Returns their texts.
fn write_notes(rest: &mut RestClient, campaign_id: &str, writer: usize, is_over: &AtomicBool) -> Vec<String> {
    let mut names = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let name = format!("note {writer}-{}", names.len());
        rest.call("session_note", &json!({"campaign_id": campaign_id, "text": name}));
        names.push(name);
        std::thread::sleep(BREATH);
    }
    names
}

/// Writes in its own process and reads the change in another, and the other way round.
struct Probe<'a> {
    name: String,
    campaign: &'a str,
    player: SurfaceClient,
    rest: RestClient,
}

impl Probe<'_> {
    /// Runs until `is_over`. The names of the actors that it added, and how long it waited for each that it looked for.
    fn run(mut self, to: &Sender<Value>, from: &Receiver<Value>, is_over: &AtomicBool) -> (Vec<String>, ChangeDelays) {
        let (mut names, mut waits) = (Vec::new(), ChangeDelays::default());
        while !is_over.load(Ordering::SeqCst) {
            let actor = |names: &mut Vec<String>| {
                names.push(format!("{} {}", self.name, names.len()));
                json!({"campaign_id": self.campaign, "name": names.last(), "kind": "NPC"})
            };
            let ours = call_ok(&mut self.player, "actor_create", &actor(&mut names));
            // The other probe may have stopped receiving.
            let _ = to.send(ours["id"].clone());
            waits
                .changes
                .push(assert_actor_visible(self.campaign, &ours["id"], |input| self.rest.call("campaign_read", input)));
            waits.others.push(measure(|| self.rest.call("duality_outcome", &json!({"hope": 8, "fear": 5}))).0);
            let theirs = self.rest.call("actor_create", &actor(&mut names));
            let others = std::iter::once(theirs["id"].clone()).chain(from.try_iter().last());
            for id in others {
                waits.changes.push(assert_actor_visible(self.campaign, &id, |input| {
                    call_ok(&mut self.player, "campaign_read", input)
                }));
            }
            waits
                .others
                .push(measure(|| call_ok(&mut self.player, "duality_outcome", &json!({"hope": 8, "fear": 5}))).0);
        }
        (names, waits)
    }
}

fn call_ok(player: &mut SurfaceClient, operation: &str, input: &Value) -> Value {
    player.call(operation, input, None).unwrap_or_else(|error| panic!("{operation} {input}: {error}"))
}

/// Asserts that an acknowledged actor is among the newest, in whichever process is asked, and returns how long the
/// answer took.
fn assert_actor_visible(campaign_id: &str, id: &Value, read: impl FnOnce(&Value) -> Value) -> Duration {
    let (took, page) = measure(|| read(&json!({"campaign_id": campaign_id, "view": "actors", "limit": 20})));
    let actors = page["actors"].as_array().expect("actors");
    assert!(actors.iter().any(|actor| actor["id"] == *id), "{id} is not seen: {page}");
    took
}

fn measure<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let outcome = work();
    (began.elapsed(), outcome)
}

/// Creates tokens, makes backups and verifies the store until `is_over`. Returns the names of the tokens.
fn use_command_line(place: &TestStore, has_backups: bool, is_over: &AtomicBool) -> Vec<String> {
    let folder = TemporaryFolder::new();
    let mut names = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let name = format!("holder-{}-", names.len());
        run_ok(&["token", "create", &name, "--store", &place.address]);
        names.push(name);
        assert_sound(&place.address);
        if has_backups {
            let copy = folder.file(&format!("{}.db", names.len()));
            run_ok(&["backup", copy.to_str().expect("a path"), "--store", &place.address]);
            assert_sound(&format!("sqlite:{}", copy.display()));
        }
    }
    names
}

fn run_ok(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_sound(store: &str) {
    let verdict = run_ok(&["verify", "--store", store]);
    assert!(verdict.starts_with("sound: "), "{verdict}");
}
