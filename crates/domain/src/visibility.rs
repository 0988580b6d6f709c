//! Visibility: who may see a note, a tracker, a roll, an event of the timeline or an entity; and a viewer to ask for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Moment;

/// The word for "game masters alone" in lists of people.
pub const GAME_MASTERS: &str = "gm";
/// The word for "all members of the campaign" in lists of people.
pub const WHOLE_TABLE: &str = "table";

/// Who may see something. Game masters see everything. It is stored as a list: `["gm"]`, `["table"]`, or ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub enum Visibility {
    #[default]
    Table,
    GameMasters,
    /// Game masters, and the participants and actors with these ids. An actor's knowledge is that of whoever plays it.
    People(BTreeSet<String>),
}

impl Visibility {
    /// For `skip_serializing_if`: what everybody sees is not marked.
    pub fn is_table(&self) -> bool {
        *self == Self::Table
    }

    pub fn is_visible_to(&self, viewer: &Viewer) -> bool {
        match self {
            Self::Table => true,
            _ if viewer.is_game_master => true,
            Self::GameMasters => false,
            Self::People(ids) => ids.iter().any(|id| viewer.ids.contains(id)),
        }
    }
}

impl Visibility {
    /// The visibility as a viewer may know it: others who see the same are not named, except to game masters.
    #[must_use]
    pub fn narrow_for(&self, viewer: &Viewer) -> Self {
        match self {
            Self::People(ids) if !viewer.is_game_master => {
                let own = ids & &viewer.ids;
                if own.is_empty() { Self::GameMasters } else { Self::People(own) }
            }
            all => all.clone(),
        }
    }

    /// The visibility of what is seen by whoever sees one or the other.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Table, _) | (_, Self::Table) => Self::Table,
            (Self::GameMasters, people) | (people, Self::GameMasters) => people.clone(),
            (Self::People(ids), Self::People(others)) => Self::People(ids | others),
        }
    }

    /// The visibility with one more participant or actor.
    #[must_use]
    pub fn with_person(&self, id: &str) -> Self {
        match self {
            Self::Table => Self::Table,
            Self::GameMasters => Self::People(BTreeSet::from([id.to_owned()])),
            Self::People(ids) => Self::People(ids | &BTreeSet::from([id.to_owned()])),
        }
    }
}

impl From<Vec<String>> for Visibility {
    fn from(words: Vec<String>) -> Self {
        let has = |word: &str| words.iter().any(|given| given == word);
        if words.is_empty() || has(WHOLE_TABLE) {
            return Self::Table;
        }
        let ids: BTreeSet<String> = words.into_iter().filter(|word| word != GAME_MASTERS).collect();
        if ids.is_empty() { Self::GameMasters } else { Self::People(ids) }
    }
}

impl From<Visibility> for Vec<String> {
    fn from(visibility: Visibility) -> Self {
        match visibility {
            Visibility::Table => vec![WHOLE_TABLE.to_owned()],
            Visibility::GameMasters => vec![GAME_MASTERS.to_owned()],
            Visibility::People(ids) => ids.into_iter().collect(),
        }
    }
}

/// From when on somebody could see something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibilityStep {
    pub visible_to: Visibility,
    pub since: Moment,
    /// The session that was going on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// Somebody who looks at a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Viewer {
    pub is_game_master: bool,
    /// The ids of the participants that the viewer is, and of the actors that they play.
    pub ids: BTreeSet<String>,
    /// Private entities of the lore that were revealed to the viewer.
    pub revealed_entities: BTreeSet<u64>,
    /// Private posts of the lore that were revealed to the viewer.
    pub revealed_posts: BTreeSet<u64>,
}

impl Viewer {
    pub fn game_master() -> Self {
        Self { is_game_master: true, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn named_people_and_game_masters_see_what_others_do_not() {
        let ids = ["part_ana".to_owned(), "actor_mira".to_owned()].into();
        let ana = Viewer { ids, ..Viewer::default() };
        let cases = [(&["table"][..], true), (&[], true), (&["gm"], false), (&["part_ben"], false)];
        let named = [(&["actor_mira", "part_ben"][..], true), (&["gm", "part_ana"], true)];
        for (list, is_visible) in cases.into_iter().chain(named) {
            let visibility = Visibility::from(to_words(list));
            assert_eq!(visibility.is_visible_to(&ana), is_visible, "{list:?}");
            assert!(visibility.is_visible_to(&Viewer::game_master()), "{list:?}");
        }
    }

    #[test]
    fn a_visibility_is_stored_as_a_list() {
        for list in [&["table"][..], &["gm"], &["actor_mira", "part_ana"]] {
            let json = serde_json::to_string(&Visibility::from(to_words(list))).unwrap();
            assert_eq!(json, serde_json::to_string(list).unwrap());
            assert_eq!(serde_json::from_str::<Visibility>(&json).unwrap(), Visibility::from(to_words(list)));
        }
    }
}
