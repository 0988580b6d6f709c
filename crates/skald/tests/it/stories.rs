//! Every story in `scenarios/`, played on every surface and every store.

use std::path::{Path, PathBuf};

use testkit::story::Story;

use crate::places::Place;
use crate::player::{Player, SURFACES};

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
            let mut player = Player::start(surface, &place.address);
            let ending = story.play(&mut |operation, input, key| player.call(operation, input, key));
            ending.unwrap_or_else(|why| panic!("{name}, {surface:?}: {why}"));
        }
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
