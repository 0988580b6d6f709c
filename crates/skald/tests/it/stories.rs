//! Every story in `scenarios/`, played on every surface and every store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::story::{Call, Speaker, Story};

use crate::places::Place;
use crate::player::{Player, SURFACES, Surface};
use crate::process::run;

#[test]
fn stories_are_true_in_memory() {
    play_all(Place::memory);
}

#[test]
fn stories_are_true_on_sqlite() {
    play_all(Place::sqlite);
}

mod postgres {
    #[test]
    fn stories_are_true_on_postgres() {
        super::play_all(super::Place::postgres);
    }
}

fn play_all(place: impl Fn() -> Place) {
    let stories = stories();
    assert!(!stories.is_empty(), "there are stories");
    for path in stories {
        let name = path.file_name().unwrap_or_default().display();
        let text = std::fs::read_to_string(&path).expect("a story is a text");
        let story = Story::read(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        for surface in SURFACES {
            let place = place();
            // Another process makes the tokens, and memory is for one process alone.
            if story.has_company() && place.address == "memory" {
                continue;
            }
            let mut table = Table::new(surface, &place.address);
            let ending = story.play(&mut |call| table.call(call));
            ending.unwrap_or_else(|why| panic!("{name}, {surface:?}: {why}"));
        }
    }
}

/// Everybody who speaks in a story, on one store, each with a client of one kind.
struct Table<'a> {
    surface: Surface,
    store: &'a str,
    players: BTreeMap<Speaker, Player>,
    /// The first campaign of the story, which roles are in.
    campaign_id: Option<String>,
}

impl<'a> Table<'a> {
    fn new(surface: Surface, store: &'a str) -> Self {
        let owner = Player::start(surface, store);
        Self { surface, store, players: BTreeMap::from([(Speaker::Owner, owner)]), campaign_id: None }
    }

    fn call(&mut self, call: Call<'_>) -> Result<Value, Value> {
        if !self.players.contains_key(&call.by) {
            let token = self.token(call.by);
            self.players.insert(call.by, Player::start_as(self.surface, self.store, Some(&token)));
        }
        let player = self.players.get_mut(&call.by).expect("whoever speaks is at the table");
        let answer = player.call(call.operation, call.input, call.key);
        if let ("campaign_create", None, Ok(campaign)) = (call.operation, &self.campaign_id, &answer) {
            self.campaign_id = campaign["id"].as_str().map(str::to_owned);
        }
        answer
    }

    fn token(&mut self, speaker: Speaker) -> String {
        let here = self.campaign_id.clone().expect("a campaign, before others than the owner speak");
        let (role, campaign_id) = match speaker {
            Speaker::Owner => unreachable!("the owner needs no token"),
            Speaker::GameMaster => ("gm", here),
            Speaker::Player => ("player", here),
            Speaker::Guest => ("guest", here),
            Speaker::Nobody => ("gm", self.elsewhere()),
        };
        let name = format!("{speaker:?}");
        let create = ["token", "create", &name, "--role", role, "--for", &campaign_id, "--json", "--store", self.store];
        let created = run(&create);
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        let created: Value = serde_json::from_slice(&created.stdout).expect("JSON");
        created["token"].as_str().expect("a token").to_owned()
    }

    /// A campaign that the story knows nothing of.
    fn elsewhere(&mut self) -> String {
        let owner = self.players.get_mut(&Speaker::Owner).expect("the owner is there from the start");
        let created = owner.call("campaign_create", &json!({"name": "Another table", "gm_mode": "HUMAN"}), None);
        created.expect("a campaign")["id"].as_str().expect("an id").to_owned()
    }
}

fn stories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).expect("the folder of stories").map(|file| file.expect("a file").path());
    let is_story = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "md")
            && path.file_name().is_some_and(|name| name != "README.md")
    };
    files.filter(is_story).collect()
}
