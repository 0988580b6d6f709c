//! Tests that play every story in `scenarios/` on every surface and every store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skald_testkit::story::{Story, StoryCall, StoryCaller};

use crate::process::run;
use crate::surface_client::{SURFACES, Surface, SurfaceClient};
use crate::test_stores::TestStore;

#[test]
fn stories_are_true_in_memory() {
    play_all(TestStore::memory);
}

#[test]
fn stories_are_true_on_sqlite() {
    play_all(TestStore::sqlite);
}

mod postgres {
    #[test]
    fn stories_are_true_on_postgres() {
        super::play_all(super::TestStore::postgres);
    }
}

fn play_all(place: impl Fn() -> TestStore) {
    let stories = story_paths();
    assert!(!stories.is_empty(), "there are stories");
    for path in stories {
        let name = path.file_name().unwrap_or_default().display();
        let story = read_story(&path);
        for surface in SURFACES {
            let place = place();
            // Another process creates the tokens, and a store in memory belongs to one process.
            if story.has_other_callers() && place.address == "memory" {
                continue;
            }
            let mut table = StoryClients::new(surface, &place.address);
            let ending = story.play(&mut |call| table.call(call));
            ending.unwrap_or_else(|why| panic!("{name}, {surface:?}: {why}"));
        }
    }
}

/// The clients of all speakers of a story, on one store and one surface.
struct StoryClients<'a> {
    surface: Surface,
    store: &'a str,
    players: BTreeMap<StoryCaller, SurfaceClient>,
    /// The first campaign of the story, for which roles are given.
    campaign_id: Option<String>,
}

impl<'a> StoryClients<'a> {
    fn new(surface: Surface, store: &'a str) -> Self {
        let owner = SurfaceClient::start(surface, store);
        Self { surface, store, players: BTreeMap::from([(StoryCaller::Owner, owner)]), campaign_id: None }
    }

    fn call(&mut self, call: StoryCall<'_>) -> Result<Value, Value> {
        if !self.players.contains_key(&call.by) {
            let token = self.create_token(call.by);
            self.players.insert(call.by, SurfaceClient::start_as(self.surface, self.store, Some(&token)));
        }
        let player = self.players.get_mut(&call.by).expect("whoever speaks is at the table");
        let answer = player.call(call.operation, call.input, call.key);
        if let ("campaign_create", None, Ok(campaign)) = (call.operation, &self.campaign_id, &answer) {
            self.campaign_id = campaign["id"].as_str().map(str::to_owned);
        }
        answer
    }

    fn create_token(&mut self, speaker: StoryCaller) -> String {
        let here = self.campaign_id.clone().expect("a campaign, before others than the owner speak");
        let (role, campaign_id) = match speaker {
            StoryCaller::Owner => unreachable!("the owner needs no token"),
            StoryCaller::GameMaster => ("gm", here),
            StoryCaller::Player => ("player", here),
            StoryCaller::Guest => ("guest", here),
            StoryCaller::Nobody => ("gm", self.create_other_campaign()),
        };
        let name = format!("{speaker:?}");
        let create = ["token", "create", &name, "--role", role, "--for", &campaign_id, "--json", "--store", self.store];
        let created = run(&create);
        assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
        let created: Value = serde_json::from_slice(&created.stdout).expect("JSON");
        created["token"].as_str().expect("a token").to_owned()
    }

    /// Creates a campaign outside of the story.
    fn create_other_campaign(&mut self) -> String {
        let owner = self.players.get_mut(&StoryCaller::Owner).expect("the owner is there from the start");
        let created = owner.call("campaign_create", &json!({"name": "Another table", "gm_mode": "HUMAN"}), None);
        created.expect("a campaign")["id"].as_str().expect("an id").to_owned()
    }
}

/// Answers that depend neither on dice nor on the time are equal on every surface.
#[test]
fn answers_are_equal_on_every_surface() {
    let calls = [
        ("duality_outcome", json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15})),
        ("duality_explain", json!({"hope": 1, "fear": 12})),
        ("duality_rules_version", json!({})),
        ("odds", json!({"expression": "4d6kh3 >= 15"})),
        ("duality_outcome", json!({"hope": 13, "fear": 5})),
        ("duality_outcome", json!({"hope": 1, "fear": 5, "mood": "grim — „sehr“"})),
        ("odds", json!({"expression": "4d6kh"})),
        ("roll_dice", json!({"dice": [{"sides": 0, "count": 1}]})),
        ("campaign_create", json!({"name": "The Hill"})),
        ("campaign_create", json!({"name": "", "gm_mode": "HUMAN"})),
        ("campaign_read", json!({"view": "campaigns"})),
        ("campaign_read", json!({"campaign_id": "camp_nowhere"})),
        ("campaign_read", json!({"limit": 1_000})),
        ("set_context", json!({"campaign_id": ""})),
        ("session_start", json!({})),
    ];
    let answers = |surface| {
        let place = TestStore::memory();
        let mut player = SurfaceClient::start(surface, &place.address);
        calls.iter().map(|(operation, input)| player.call(operation, input, None)).collect::<Vec<_>>()
    };
    let expected = answers(SURFACES[0]);
    for surface in &SURFACES[1..] {
        for ((found, expected), call) in answers(*surface).iter().zip(&expected).zip(&calls) {
            assert_eq!(found, expected, "{call:?} {surface:?}");
        }
    }
}

/// The story in the file of this name.
pub(crate) fn load_story(name: &str) -> Story {
    read_story(&stories_folder().join(name))
}

fn read_story(path: &Path) -> Story {
    let text = std::fs::read_to_string(path).expect("a story is a text");
    Story::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn stories_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn story_paths() -> Vec<PathBuf> {
    let files =
        std::fs::read_dir(stories_folder()).expect("the folder of stories").map(|file| file.expect("a file").path());
    let is_story = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "md")
            && path.file_name().is_some_and(|name| name != "README.md")
    };
    files.filter(is_story).collect()
}
