//! Several programs on one store: servers over HTTP and stdio, and the command line, all at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use app::journal::Cursor;
use serde_json::{Value, json};

use crate::places::{Folder, Place};
use crate::player::{LEGACY, Player, Surface};
use crate::process::{Running, run};
use crate::rest::Rest;

/// Who writes notes over HTTP, to keep the store busy.
const WRITERS: usize = 4;
/// How soon a change is seen elsewhere: half of the time, and nearly always, on a machine that has other things to do.
const SOON: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(500));
/// How often the node that is followed is killed.
const FOLLOWED_KILLS: usize = 5;

#[test]
fn programs_on_one_file_work_together() {
    work_together(&Place::sqlite(), [Surface::Stdio(LEGACY), Surface::Stdio(LEGACY)], true);
}

#[test]
fn a_follower_sees_each_revision_once_on_sqlite() {
    follow_while_killed(&Place::sqlite());
}

mod postgres {
    use super::{LEGACY, Place, Surface};

    #[test]
    fn nodes_on_one_postgres_work_together() {
        // A backup of PostgreSQL is made with its own tools.
        super::work_together(&Place::postgres(), [Surface::Rest, Surface::Stdio(LEGACY)], false);
    }

    #[test]
    fn a_follower_sees_each_revision_once_on_postgres() {
        super::follow_while_killed(&Place::postgres());
    }
}

/// Everybody writes to one campaign for a while. Nothing fails, nothing is lost, and everybody sees it soon.
fn work_together(place: &Place, others: [Surface; 2], has_backups: bool) {
    let seconds = std::env::var("SKALD_TOGETHER_SECONDS").map_or(2, |text| text.parse().expect("a number"));
    let (_server, address) = Running::serve(&["--store", &place.address]);
    let campaign_id = Rest::new(address).open_campaign("together");
    let is_over = AtomicBool::new(false);
    let (is_over, campaign) = (&is_over, campaign_id.as_str());
    let (notes, probes, tokens) = std::thread::scope(|scope| {
        let notes: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || note(&mut Rest::new(address), campaign, writer, is_over)))
            .collect();
        let [(to_one, from_other), (to_other, from_one)] = [channel(), channel()];
        let ends = [(to_other, from_other), (to_one, from_one)];
        let probes: Vec<_> = std::iter::zip(others, ends)
            .enumerate()
            .map(|(number, (surface, (sender, receiver)))| {
                let player = Player::start(surface, &place.address);
                let probe = Probe { name: format!("probe {number}"), campaign, player, rest: Rest::new(address) };
                scope.spawn(move || probe.run(&sender, &receiver, is_over))
            })
            .collect();
        let tokens = scope.spawn(move || use_command_line(place, has_backups, is_over));
        std::thread::sleep(Duration::from_secs(seconds));
        is_over.store(true, Ordering::SeqCst);
        let notes: Vec<String> = notes.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect();
        let probes: Vec<_> = probes.into_iter().map(|probe| probe.join().expect("a probe")).collect();
        (notes, probes, tokens.join().expect("the command line"))
    });
    let (names, waits): (Vec<_>, Vec<_>) = probes.into_iter().unzip();
    let mut waits = waits.concat();
    waits.sort();
    let (half, nearly_all) = (waits.len() / 2, waits.len() * 19 / 20);
    assert!(waits.len() > 10 && waits[half] < SOON.0 && waits[nearly_all] < SOON.1, "{waits:?}");
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    for event in Rest::new(address).history(campaign).concat() {
        let name = event["text"].as_str().or_else(|| event["name"].as_str()).unwrap_or_default().to_owned();
        *told.entry(name).or_default() += 1;
    }
    for name in notes.iter().chain(names.iter().flatten()) {
        assert_eq!(told.get(name), Some(&1), "{name}");
    }
    let listed = run(&["token", "list", "--store", &place.address]).stdout;
    let listed = String::from_utf8_lossy(&listed);
    assert!(!tokens.is_empty() && tokens.iter().all(|name| listed.contains(name)), "{tokens:?} of {listed}");
    sound(&place.address);
}

/// Notes and notes and notes; each one acknowledged.
fn note(rest: &mut Rest, campaign_id: &str, writer: usize, is_over: &AtomicBool) -> Vec<String> {
    let mut names = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let name = format!("note {writer}-{}", names.len());
        rest.call("session_note", &json!({"campaign_id": campaign_id, "text": name}));
        names.push(name);
    }
    names
}

/// One that writes in its own process and looks for it in another, and the other way round.
struct Probe<'a> {
    name: String,
    campaign: &'a str,
    player: Player,
    rest: Rest,
}

impl Probe<'_> {
    /// The names of the actors that it added, and how long it waited for each that it looked for.
    fn run(mut self, to: &Sender<Value>, from: &Receiver<Value>, is_over: &AtomicBool) -> (Vec<String>, Vec<Duration>) {
        let (mut names, mut waits) = (Vec::new(), Vec::new());
        while !is_over.load(Ordering::SeqCst) {
            let actor = |names: &mut Vec<String>| {
                names.push(format!("{} {}", self.name, names.len()));
                json!({"campaign_id": self.campaign, "name": names.last(), "kind": "NPC"})
            };
            let ours = here(&mut self.player, "actor_create", &actor(&mut names));
            // The other may have stopped looking.
            let _ = to.send(ours["id"].clone());
            waits.push(seen(self.campaign, &ours["id"], |input| self.rest.call("campaign_read", input)));
            let theirs = self.rest.call("actor_create", &actor(&mut names));
            let others = std::iter::once(theirs["id"].clone()).chain(from.try_iter().last());
            for id in others {
                waits.push(seen(self.campaign, &id, |input| here(&mut self.player, "campaign_read", input)));
            }
        }
        (names, waits)
    }
}

fn here(player: &mut Player, operation: &str, input: &Value) -> Value {
    player.call(operation, input, None).unwrap_or_else(|error| panic!("{operation} {input}: {error}"))
}

/// Looks for an actor until it is there. How long that took.
fn seen(campaign_id: &str, id: &Value, mut read: impl FnMut(&Value) -> Value) -> Duration {
    let began = Instant::now();
    let input = json!({"campaign_id": campaign_id, "view": "actors", "limit": 200});
    loop {
        let page = read(&input);
        if page["actors"].as_array().expect("actors").iter().any(|actor| actor["id"] == *id) {
            return began.elapsed();
        }
        assert!(began.elapsed() < 10 * SOON.1, "{id} is not seen");
    }
}

/// Makes tokens, backups and checks, one after the other. The names of the tokens.
fn use_command_line(place: &Place, has_backups: bool, is_over: &AtomicBool) -> Vec<String> {
    let folder = Folder::new();
    let mut names = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let name = format!("holder-{}-", names.len());
        done(&["token", "create", &name, "--store", &place.address]);
        names.push(name);
        sound(&place.address);
        if has_backups {
            let copy = folder.file(&format!("{}.db", names.len()));
            done(&["backup", copy.to_str().expect("a path"), "--store", &place.address]);
            sound(&format!("sqlite:{}", copy.display()));
        }
    }
    names
}

fn done(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn sound(store: &str) {
    let verdict = done(&["verify", "--store", store]);
    assert!(verdict.starts_with("sound: "), "{verdict}");
}

/// Follows the journal from here, as another node does, while the node that writes is killed and started again.
fn follow_while_killed(place: &Place) {
    let (mut server, mut address) = Running::serve(&["--store", &place.address]);
    let campaign_id = Rest::new(address).open_campaign("followed");
    let is_over = AtomicBool::new(false);
    let followed = std::thread::scope(|scope| {
        let follower = scope.spawn(|| follow(place, &campaign_id, &is_over));
        for round in 0..FOLLOWED_KILLS {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let campaign_id = &campaign_id;
                    scope.spawn(move || {
                        let mut rest = Rest::new(address);
                        let noted = |number: usize| json!({"campaign_id": campaign_id, "text": number.to_string()});
                        let send =
                            |number| rest.send("session_note", &noted(number), &format!("{round}-{writer}-{number}"));
                        (0..usize::MAX).map(send).take_while(Result::is_ok).count()
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_millis(60));
            server.kill();
            assert!(writers.into_iter().map(|writer| writer.join().expect("a writer")).sum::<usize>() > 0);
            (server, address) = Running::serve(&["--store", &place.address]);
        }
        let last = Rest::new(address).history(&campaign_id).len();
        is_over.store(true, Ordering::SeqCst);
        (follower.join().expect("the follower"), last)
    });
    let (revisions, last) = followed;
    assert_eq!(revisions, (1..=last as u64).collect::<Vec<_>>(), "each revision, once and in order");
}

/// The revisions of a campaign, as they come in. Once it is over, it goes on for a moment, for what is on its way.
fn follow(place: &Place, campaign_id: &str, is_over: &AtomicBool) -> Vec<u64> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let journal = store::open(&place.address).await.expect("the store");
        let mut wakes = journal.wakes();
        let (mut cursor, mut revisions, mut deadline) = (Cursor::default(), Vec::new(), None);
        while deadline.is_none_or(|deadline| Instant::now() < deadline) {
            for (place, record) in journal.follow(cursor, 1_000).await.expect("records") {
                if record.stream.as_str().ends_with(campaign_id) {
                    revisions.push(record.revision);
                }
                cursor = place;
            }
            if is_over.load(Ordering::SeqCst) {
                deadline = deadline.or(Some(Instant::now() + 2 * SOON.1));
            }
            // It is woken for each commit; nobody is told that there will be no more.
            let _ = tokio::time::timeout(SOON.0, wakes.changed()).await;
        }
        revisions
    })
}
