//! Tests of the rules of lore: commands, their events, and the state after them.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;
use crate::decider::{Decider, DecisionContext};

/// Lore under test. Each command advances the clock by a minute.
pub(super) struct LoreFixture {
    pub(super) state: LoreState,
    pub(super) journal: Vec<(DecisionContext, LoreEvent)>,
    pub(super) clock: Timestamp,
}

impl LoreFixture {
    pub(super) fn empty() -> Self {
        let clock = "2025-01-15T10:00:00.250000123Z".parse().unwrap();
        Self { state: LoreState::default(), journal: Vec::new(), clock }
    }

    pub(super) fn run(&mut self, command: &LoreCommand) -> Result<LoreEvent, LoreRefusal> {
        self.clock += SignedDuration::from_mins(1);
        let given = DecisionContext { at: self.clock, by: "local".to_owned() };
        let mut events = LoreRules::decide(&self.state, command, &given)?;
        let event = events.pop().expect("one event");
        assert!(events.is_empty(), "a command yields one event");
        self.state = LoreRules::evolve(std::mem::take(&mut self.state), &event, &given);
        self.journal.push((given, event.clone()));
        Ok(event)
    }

    #[expect(clippy::needless_pass_by_value, reason = "commands are made where they are given")]
    pub(super) fn expect_event(&mut self, command: LoreCommand) -> LoreEvent {
        self.run(&command).unwrap_or_else(|refusal| panic!("{command:?}: {refusal}"))
    }

    /// Expects a refusal and an unchanged state.
    #[expect(clippy::needless_pass_by_value, reason = "commands are made where they are given")]
    pub(super) fn expect_refusal(&mut self, command: LoreCommand) -> LoreRefusal {
        let before = self.state.clone();
        let refusal = self.run(&command).expect_err("a refusal");
        assert_eq!(self.state, before);
        assert!(!refusal.to_string().is_empty() && !refusal.hint().is_empty());
        refusal
    }

    /// Creates an entity and answers its id.
    pub(super) fn create(&mut self, new: NewEntity) -> u64 {
        match self.expect_event(LoreCommand::CreateEntity(Box::new(new))) {
            LoreEvent::EntityCreated { entity_id, .. } => entity_id,
            event => panic!("{event:?}"),
        }
    }

    pub(super) fn character(&mut self, name: &str) -> u64 {
        self.create(character(name))
    }

    /// Creates a post and answers its id.
    pub(super) fn post(&mut self, entity_id: u64, name: &str, text: Option<TextRef>) -> u64 {
        match self.expect_event(new_post(entity_id, name, text)) {
            LoreEvent::PostCreated { post_id, .. } => post_id,
            event => panic!("{event:?}"),
        }
    }

    pub(super) fn entity(&self, entity_id: u64) -> &Entity {
        self.state.entity(entity_id).unwrap()
    }
}

pub(super) fn character(name: &str) -> NewEntity {
    NewEntity::new(EntityType::Character, name)
}

pub(super) fn new_post(entity_id: u64, name: &str, text: Option<TextRef>) -> LoreCommand {
    let name = name.to_owned();
    LoreCommand::CreatePost(Box::new(NewPost { entity_id, name, is_private: false, text, post_id: None }))
}

pub(super) fn text(number: u8, mentions: &[u64]) -> TextRef {
    TextRef { key: TextKey::from([number; 32]), mentions: mentions.into() }
}

pub(super) fn update(entity_id: u64, change: EntityChange) -> LoreCommand {
    LoreCommand::UpdateEntity { entity_id, expected_revision: None, change: Box::new(change) }
}

pub(super) fn update_post(entity_id: u64, post_id: u64, change: PostChange) -> LoreCommand {
    LoreCommand::UpdatePost { entity_id, post_id, expected_revision: None, change: Box::new(change) }
}

pub(super) fn archive(entity_id: u64) -> LoreCommand {
    LoreCommand::ArchiveEntity { entity_id, expected_revision: None }
}

pub(super) fn archive_post(entity_id: u64, post_id: u64) -> LoreCommand {
    LoreCommand::ArchivePost { entity_id, post_id, expected_revision: None }
}

pub(super) fn restore(entity_id: u64) -> LoreCommand {
    LoreCommand::RestoreEntity { entity_id }
}

pub(super) fn empty_archive(entity_ids: &[u64]) -> LoreCommand {
    LoreCommand::EmptyArchive { entity_ids: entity_ids.to_vec(), posts: Vec::new(), text_keys: Vec::new() }
}

pub(super) fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn renamed(name: &str) -> EntityChange {
    EntityChange { name: Some(name.to_owned()), ..EntityChange::default() }
}

fn parent(parent: u64) -> EntityChange {
    EntityChange { parent: Some(Some(parent)), ..EntityChange::default() }
}

#[test]
fn ids_count_in_the_campaign_and_in_the_type() {
    let mut lore = LoreFixture::empty();
    let ids = |lore: &LoreFixture, entity_id| (lore.entity(entity_id).entity_id, lore.entity(entity_id).id);
    let ann = lore.character("Ann");
    let port = lore.create(NewEntity::new(EntityType::Location, "Port"));
    let ben = lore.character("Ben");
    assert_eq!([ids(&lore, ann), ids(&lore, port), ids(&lore, ben)], [(1, 1), (2, 1), (3, 2)]);
    // A removed id is not given again.
    lore.expect_event(archive(ben));
    lore.expect_event(empty_archive(&[]));
    let cid = lore.character("Cid");
    assert_eq!(ids(&lore, cid), (4, 3));
    assert_eq!((lore.state.entity_count(), lore.state.revision()), (3, 6));
}

#[test]
fn ids_from_elsewhere_are_taken_if_they_are_free() {
    let mut lore = LoreFixture::empty();
    let with_ids = |id, entity_id| NewEntity { ids: Some(ExplicitIds { id, entity_id }), ..character("Ann") };
    assert_eq!(lore.create(with_ids(70, 5_000)), 5_000);
    assert_eq!(lore.create(with_ids(69, 40)), 40);
    assert_eq!(lore.character("Next"), 5_001);
    assert_eq!(lore.entity(5_001).id, 71);
    let create = |id, entity_id| LoreCommand::CreateEntity(Box::new(with_ids(id, entity_id)));
    assert_eq!(lore.expect_refusal(create(1, 40)), LoreRefusal::IdTaken { field: "entity_id", id: 40 });
    let refusal = lore.expect_refusal(create(69, 41));
    assert_eq!(refusal, LoreRefusal::IdTaken { field: "id", id: 69 });
    assert_eq!(
        (refusal.kind(), refusal.pointer(), refusal.value()),
        (LoreRefusalKind::Rejected, Some("/id".to_owned()), Some(json!(69)))
    );
    // Another type counts apart.
    let place = NewEntity { entity_type: EntityType::Location, ..with_ids(69, 42) };
    assert_eq!(lore.create(place), 42);
    let posts = |post_id| {
        let name = "Post".to_owned();
        LoreCommand::CreatePost(Box::new(NewPost { entity_id: 40, name, is_private: false, text: None, post_id }))
    };
    lore.expect_event(posts(Some(9)));
    assert_eq!(lore.expect_refusal(posts(Some(9))), LoreRefusal::IdTaken { field: "post_id", id: 9 });
    lore.expect_event(posts(Some(3)));
    lore.expect_event(posts(None));
    let ids: Vec<u64> = lore.entity(40).details().posts.iter().map(|post| post.post_id).collect();
    assert_eq!(ids, [9, 3, 10]);
}

#[test]
fn a_new_entity_has_its_fields() {
    let mut lore = LoreFixture::empty();
    let court = lore.create(NewEntity::new(EntityType::Organization, "Silver Court"));
    let event = lore.expect_event(LoreCommand::CreateEntity(Box::new(NewEntity {
        subtype: " NPC ".to_owned(),
        tags: texts(&[" Elf", "elf", "North"]),
        aliases: texts(&["The Grey Lady", "the grey lady ", "Ael"]),
        parent: Some(court),
        image: Some("https://example.org/a.png".to_owned()),
        date: Some("12 Mirtul 1492".to_owned()),
        actor_id: Some("actor_1".to_owned()),
        text: Some(text(1, &[9, 2, 9])),
        source: Some(ImportSource { id: "kanka:1".to_owned(), hash: "00".to_owned(), posts: BTreeMap::new() }),
        ..character("  Aelysh ")
    })));
    let LoreEvent::EntityCreated { entity_id: 2, entity, .. } = &event else { panic!("{event:?}") };
    assert_eq!((entity.name.as_str(), entity.subtype.as_str()), ("Aelysh", "NPC"));
    assert_eq!((&entity.tags, &entity.aliases), (&texts(&["Elf", "North"]), &texts(&["The Grey Lady", "Ael"])));
    assert_eq!(entity.text, Some(text(1, &[2, 9])));
    let aelysh = lore.entity(2);
    assert_eq!((aelysh.revision, &*aelysh.changes, aelysh.details().parent), (1, [2].as_slice(), Some(court)));
    assert_eq!(lore.state.tag_names(aelysh), ["Elf", "North"]);
    assert_eq!(aelysh.created_at.to_string(), "2025-01-15T10:02:00.25Z");
    assert_eq!(lore.state.children(court), [2]);
    assert_eq!((lore.state.entity_of_actor("actor_1"), lore.state.entity_of_source("kanka:1")), (Some(2), Some(2)));
    let place = MentionPlace { entity_id: 2, post_id: None };
    assert_eq!((lore.state.mentioned_by(9), lore.state.mentioned_by(2)), (vec![place], vec![place]));
    assert!(!aelysh.is_private && lore.state.mentioned_by(court).is_empty());
    let plot = lore.create(NewEntity::new(EntityType::Note, "The plot"));
    assert!(lore.entity(plot).is_private);
}

#[test]
fn names_and_other_short_texts_are_checked() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let create = |new: NewEntity| LoreCommand::CreateEntity(Box::new(new));
    for (new, field) in [
        (character("  "), "name"),
        (NewEntity { tags: texts(&["a", " "]), ..character("A") }, "tags"),
        (NewEntity { aliases: texts(&[""]), ..character("A") }, "aliases"),
        (NewEntity { image: Some(" ".to_owned()), ..character("A") }, "image"),
        (NewEntity { date: Some(String::new()), ..character("A") }, "date"),
        (NewEntity { actor_id: Some(String::new()), ..character("A") }, "actor_id"),
        (
            NewEntity {
                source: Some(ImportSource { id: String::new(), hash: "0".to_owned(), posts: BTreeMap::new() }),
                ..character("A")
            },
            "source",
        ),
        (
            NewEntity {
                source: Some(ImportSource { id: "0".to_owned(), hash: String::new(), posts: BTreeMap::new() }),
                ..character("A")
            },
            "source",
        ),
    ] {
        let refusal = lore.expect_refusal(create(new));
        assert_eq!(refusal, LoreRefusal::Empty { field });
        assert_eq!((refusal.kind(), refusal.pointer()), (LoreRefusalKind::Invalid, Some(format!("/{field}"))));
    }
    let refusal = lore.expect_refusal(create(character("A\u{202e}B")));
    assert_eq!(refusal, LoreRefusal::Deceptive { field: "name", character: '\u{202e}' });
    let two_lines = EntityChange { subtype: Some("a\nb".to_owned()), ..EntityChange::default() };
    let refusal = lore.expect_refusal(update(ann, two_lines));
    assert_eq!(refusal, LoreRefusal::Deceptive { field: "subtype", character: '\n' });
    assert_eq!(lore.expect_refusal(new_post(ann, "\t", None)), LoreRefusal::Empty { field: "name" });
    let unnamed = PostChange { name: Some(String::new()), ..PostChange::default() };
    let post = lore.post(ann, "Post", None);
    assert_eq!(lore.expect_refusal(update_post(ann, post, unnamed)), LoreRefusal::Empty { field: "name" });
}

#[test]
fn an_update_stores_what_is_different() {
    let mut lore = LoreFixture::empty();
    let ann = lore.create(NewEntity {
        tags: texts(&["Elf", "North"]),
        aliases: texts(&["A"]),
        image: Some("a.png".to_owned()),
        text: Some(text(1, &[])),
        ..character("Ann")
    });
    let same = EntityChange {
        name: Some(" Ann ".to_owned()),
        subtype: Some(String::new()),
        tags: Some(texts(&["north", "ELF", "elf"])),
        aliases: Some(texts(&["A"])),
        is_private: Some(false),
        parent: Some(None),
        image: Some(Some("a.png".to_owned())),
        date: Some(None),
        actor_id: Some(None),
        text: Some(Some(text(1, &[]))),
        source: None,
    };
    let refusal = lore.expect_refusal(update(ann, same.clone()));
    assert_eq!((refusal.kind(), &refusal), (LoreRefusalKind::Unchanged, &LoreRefusal::Unchanged));
    assert_eq!(lore.expect_refusal(update(ann, EntityChange::default())), LoreRefusal::Unchanged);
    let change = EntityChange {
        tags: Some(texts(&["elf", "south"])),
        aliases: Some(texts(&["a"])),
        is_private: Some(true),
        image: Some(None),
        text: Some(Some(text(2, &[ann]))),
        ..same
    };
    let event = lore.expect_event(update(ann, change));
    let expected = EntityChange {
        tags: Some(texts(&["Elf", "south"])),
        aliases: Some(texts(&["a"])),
        is_private: Some(true),
        image: Some(None),
        text: Some(Some(text(2, &[ann]))),
        ..EntityChange::default()
    };
    let unlinked_ids = Vec::new();
    assert_eq!(
        event,
        LoreEvent::EntityUpdated { entity_id: ann, change: Box::new(expected), unlinked_ids, hidden: false }
    );
    let entity = lore.entity(ann);
    assert_eq!((entity.revision, &*entity.changes), (2, [1, 2].as_slice()));
    assert_eq!(
        (entity.details().image.as_deref(), entity.is_private, &*entity.details().aliases[0]),
        (None, true, "a")
    );
    assert!(entity.updated_at > entity.created_at);
    // A tag that no entity has any more is dropped, and may come again in another spelling.
    let names = |state: &LoreState| state.tags().map(|tag| tag.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&lore.state), ["Elf", "south"]);
    assert_eq!((lore.state.find_tag("NORTH"), lore.state.find_tag(" ELF ")), (None, Some(1)));
    lore.expect_event(update(ann, EntityChange { tags: Some(texts(&["NORTH"])), ..EntityChange::default() }));
    assert_eq!((names(&lore.state), lore.state.find_tag("north")), (texts(&["NORTH"]), Some(4)));
    let removed = EntityChange { text: Some(None), ..EntityChange::default() };
    lore.expect_event(update(ann, removed.clone()));
    assert_eq!(lore.entity(ann).text, None);
    assert_eq!(lore.expect_refusal(update(ann, removed)), LoreRefusal::Unchanged);
}

#[test]
fn an_update_of_another_revision_is_refused() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let post = lore.post(ann, "Post", None);
    let change = |name| Box::new(renamed(name));
    let update =
        |expected_revision, name| LoreCommand::UpdateEntity { entity_id: ann, expected_revision, change: change(name) };
    lore.expect_event(update(Some(1), "Anna"));
    let refusal = lore.expect_refusal(update(Some(1), "Anne"));
    assert_eq!(refusal, LoreRefusal::RevisionConflict { expected: 1, current: 2 });
    assert_eq!(refusal.kind(), LoreRefusalKind::RevisionConflict);
    assert_eq!((refusal.pointer().unwrap().as_str(), refusal.value()), ("/expected_revision", Some(json!(1))));
    // A conflict is told even if nothing would be different.
    assert_eq!(lore.expect_refusal(update(Some(3), "Anna")).kind(), LoreRefusalKind::RevisionConflict);
    lore.expect_event(update(None, "Anne"));
    lore.expect_refusal(LoreCommand::ArchiveEntity { entity_id: ann, expected_revision: Some(2) });
    let change = Box::new(PostChange { is_private: Some(true), ..PostChange::default() });
    let update = |expected_revision| LoreCommand::UpdatePost {
        entity_id: ann,
        post_id: post,
        expected_revision,
        change: change.clone(),
    };
    assert_eq!(lore.expect_refusal(update(Some(2))), LoreRefusal::RevisionConflict { expected: 2, current: 1 });
    lore.expect_event(update(Some(1)));
    let archive =
        |revision| LoreCommand::ArchivePost { entity_id: ann, post_id: post, expected_revision: Some(revision) };
    assert_eq!(lore.expect_refusal(archive(1)), LoreRefusal::RevisionConflict { expected: 1, current: 2 });
    lore.expect_event(archive(2));
    lore.expect_event(LoreCommand::ArchiveEntity { entity_id: ann, expected_revision: Some(3) });
}

#[test]
fn a_post_moves_the_entity_but_not_its_revision() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let mut updated = lore.entity(ann).updated_for(|_| true);
    let mut expect_moved = |lore: &LoreFixture| {
        let entity = lore.entity(ann);
        assert!(
            entity.updated_for(|_| true) > updated && entity.updated_at == entity.created_at && entity.revision == 1
        );
        assert_eq!(entity.changes.last(), Some(&u32::try_from(lore.state.revision()).unwrap()));
        updated = entity.updated_for(|_| true);
    };
    let post = lore.post(ann, " Secrets ", Some(text(1, &[7])));
    expect_moved(&lore);
    let (entity, found) = lore.state.post(post).unwrap();
    assert_eq!((entity.entity_id, &*found.name, found.revision), (ann, "Secrets", 1));
    let place = MentionPlace { entity_id: ann, post_id: Some(post) };
    assert_eq!(lore.state.mentioned_by(7), [place]);
    let change = PostChange { text: Some(Some(text(2, &[8]))), ..PostChange::default() };
    lore.expect_event(update_post(ann, post, change.clone()));
    expect_moved(&lore);
    assert_eq!(lore.expect_refusal(update_post(ann, post, change)), LoreRefusal::Unchanged);
    assert_eq!((lore.state.mentioned_by(7), lore.state.mentioned_by(8)), (vec![], vec![place]));
    lore.expect_event(archive_post(ann, post));
    expect_moved(&lore);
    assert_eq!((lore.state.mentioned_by(8), lore.entity(ann).live_posts().count()), (vec![], 0));
    assert_eq!(lore.expect_refusal(archive_post(ann, post)), LoreRefusal::PostArchived { post_id: post });
    let restore = LoreCommand::RestorePost { entity_id: ann, post_id: post };
    lore.expect_event(restore.clone());
    expect_moved(&lore);
    assert_eq!((lore.state.mentioned_by(8), lore.state.post(post).unwrap().1.revision), (vec![place], 4));
    let refusal = lore.expect_refusal(restore);
    assert_eq!(
        (&refusal, refusal.kind()),
        (&LoreRefusal::PostNotArchived { post_id: post }, LoreRefusalKind::Rejected)
    );
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut lore = LoreFixture::empty();
    let (ann, ben) = (lore.character("Ann"), lore.character("Ben"));
    let post = lore.post(ann, "Post", None);
    lore.expect_event(archive(ben));
    let change = || PostChange { is_private: Some(true), ..PostChange::default() };
    for (entity_id, is_archived) in [(99, false), (ben, true)] {
        let expected = if is_archived {
            LoreRefusal::EntityArchived { field: "entity_id", entity_id }
        } else {
            LoreRefusal::EntityNotFound { field: "entity_id", entity_id }
        };
        for command in [
            update(entity_id, renamed("x")),
            archive(entity_id),
            new_post(entity_id, "x", None),
            update_post(entity_id, post, change()),
            archive_post(entity_id, post),
            LoreCommand::RestorePost { entity_id, post_id: post },
        ] {
            let refusal = lore.expect_refusal(command);
            assert_eq!((&refusal, refusal.kind()), (&expected, LoreRefusalKind::NotFound));
        }
    }
    let missing = LoreRefusal::PostNotFound { entity_id: ann, post_id: 99 };
    for command in [
        update_post(ann, 99, change()),
        archive_post(ann, 99),
        LoreCommand::RestorePost { entity_id: ann, post_id: 99 },
    ] {
        let refusal = lore.expect_refusal(command);
        assert_eq!((refusal.pointer(), refusal.value()), (Some("/post_id".to_owned()), Some(json!(99))));
        assert_eq!((&refusal, refusal.kind()), (&missing, LoreRefusalKind::NotFound));
    }
    // A post of another entity is not found either.
    let cid = lore.character("Cid");
    assert_eq!(lore.expect_refusal(archive_post(cid, post)).kind(), LoreRefusalKind::NotFound);
    assert_eq!(lore.expect_refusal(restore(99)), LoreRefusal::EntityNotFound { field: "entity_id", entity_id: 99 });
    assert_eq!(lore.expect_refusal(restore(ann)), LoreRefusal::EntityNotArchived { entity_id: ann });
    assert!(lore.state.entity(99).is_none() && lore.state.post(99).is_none() && lore.state.post(1 << 40).is_none());
}

#[test]
fn parents_make_no_circle() {
    let mut lore = LoreFixture::empty();
    let top = lore.character("Top");
    let middle = lore.create(NewEntity { parent: Some(top), ..character("Middle") });
    let low = lore.create(NewEntity { parent: Some(middle), ..character("Low") });
    for entity_id in [top, middle, low] {
        let refusal = lore.expect_refusal(update(top, parent(entity_id)));
        assert_eq!(refusal, LoreRefusal::ParentCycle { parent: entity_id });
        assert_eq!((refusal.kind(), refusal.pointer().unwrap().as_str()), (LoreRefusalKind::Invalid, "/parent"));
    }
    assert_eq!(
        lore.expect_refusal(update(top, parent(99))),
        LoreRefusal::EntityNotFound { field: "parent", entity_id: 99 }
    );
    let own = NewEntity { parent: Some(4), ..character("Own") };
    let refusal = lore.expect_refusal(LoreCommand::CreateEntity(Box::new(own)));
    assert_eq!(refusal, LoreRefusal::ParentCycle { parent: 4 });
    // An archived entity on the way up counts, so that it can come back.
    lore.expect_event(archive(middle));
    assert_eq!(lore.expect_refusal(update(top, parent(low))), LoreRefusal::ParentCycle { parent: low });
    let refusal = lore.expect_refusal(update(low, parent(middle)));
    assert_eq!(refusal, LoreRefusal::Unchanged);
    let other = lore.character("Other");
    assert_eq!(
        lore.expect_refusal(update(other, parent(middle))),
        LoreRefusal::EntityArchived { field: "parent", entity_id: middle }
    );
    assert!(lore.state.children(top).is_empty());
    lore.expect_event(restore(middle));
    assert_eq!((lore.state.children(top), lore.entity(middle).details().parent), (vec![middle], Some(top)));
    lore.expect_event(update(low, EntityChange { parent: Some(None), ..EntityChange::default() }));
    lore.expect_event(update(top, parent(low)));
    assert_eq!(lore.state.children(low), [top]);
}

#[test]
fn an_actor_is_linked_to_one_entity() {
    let mut lore = LoreFixture::empty();
    let linked = |name| NewEntity { actor_id: Some("actor_1".to_owned()), ..character(name) };
    let ann = lore.create(linked("Ann"));
    let refusal = lore.expect_refusal(LoreCommand::CreateEntity(Box::new(linked("Ben"))));
    assert_eq!(refusal, LoreRefusal::ActorLinked { actor_id: "actor_1".to_owned(), entity_id: ann });
    assert_eq!((refusal.kind(), refusal.value()), (LoreRefusalKind::Rejected, Some(json!("actor_1"))));
    let ben = lore.character("Ben");
    let link = EntityChange { actor_id: Some(Some("actor_1".to_owned())), ..EntityChange::default() };
    assert_eq!(lore.expect_refusal(update(ben, link.clone())).kind(), LoreRefusalKind::Rejected);
    // An archived entity gives its actor free, and finds it taken when it comes back.
    lore.expect_event(archive(ann));
    assert_eq!(lore.state.entity_of_actor("actor_1"), None);
    lore.expect_event(update(ben, link));
    let restored = lore.expect_event(restore(ann));
    let expected =
        LoreEvent::EntityRestored { entity_id: ann, parent_cleared: false, actor_cleared: true, hidden: false };
    assert_eq!(restored, expected);
    assert_eq!(
        (lore.entity(ann).details().actor_id.as_deref(), lore.state.entity_of_actor("actor_1")),
        (None, Some(ben))
    );
    lore.expect_event(archive(ben));
    lore.expect_event(restore(ben));
    assert_eq!(lore.entity(ben).details().actor_id.as_deref(), Some("actor_1"));
    assert_eq!(lore.state.entity_of_actor("actor_1"), Some(ben));
}

#[test]
fn a_source_is_imported_once() {
    let mut lore = LoreFixture::empty();
    let source =
        |hash: &str| ImportSource { id: "vault/Ann.md".to_owned(), hash: hash.to_owned(), posts: BTreeMap::new() };
    let imported = || NewEntity { source: Some(source("1")), ..character("Ann") };
    let ann = lore.create(imported());
    lore.expect_event(archive(ann));
    assert_eq!(lore.state.entity_of_source("vault/Ann.md"), Some(ann), "archived or not");
    let refusal = lore.expect_refusal(LoreCommand::CreateEntity(Box::new(imported())));
    assert_eq!(refusal, LoreRefusal::SourceTaken { source_id: "vault/Ann.md".to_owned(), entity_id: ann });
    assert_eq!((refusal.kind(), refusal.pointer().unwrap().as_str()), (LoreRefusalKind::Rejected, "/source"));
    let ben = lore.character("Ben");
    let change = |hash| EntityChange { source: Some(source(hash)), ..EntityChange::default() };
    assert_eq!(lore.expect_refusal(update(ben, change("1"))).kind(), LoreRefusalKind::Rejected);
    lore.expect_event(restore(ann));
    assert_eq!(lore.expect_refusal(update(ann, change("1"))), LoreRefusal::Unchanged);
    lore.expect_event(update(ann, change("2")));
    assert_eq!(lore.entity(ann).details().source.as_ref().unwrap().hash, "2");
    lore.expect_event(archive(ann));
    lore.expect_event(empty_archive(&[ann]));
    assert_eq!(lore.state.entity_of_source("vault/Ann.md"), None);
    lore.create(imported());
}

#[test]
fn emptying_the_archive_names_every_text() {
    let mut lore = LoreFixture::empty();
    let ann = lore.create(NewEntity { text: Some(text(1, &[])), ..character("Ann") });
    let ann_post = lore.post(ann, "Post", Some(text(2, &[])));
    let ben = lore.create(NewEntity { text: Some(text(3, &[])), parent: Some(ann), ..character("Ben") });
    let (shown, gone) = (lore.post(ben, "Shown", Some(text(4, &[]))), lore.post(ben, "Gone", Some(text(5, &[]))));
    let late = lore.create(NewEntity { parent: Some(ann), ..character("Late") });
    lore.expect_event(archive_post(ben, gone));
    let refusal = lore.expect_refusal(empty_archive(&[ben]));
    assert_eq!(refusal, LoreRefusal::EntityNotArchived { entity_id: ben });
    assert_eq!(
        lore.expect_refusal(empty_archive(&[99])),
        LoreRefusal::EntityNotFound { field: "entity_ids", entity_id: 99 }
    );
    lore.expect_event(archive(ann));
    lore.expect_event(archive(late));
    assert_eq!(lore.state.archived().map(|entity| entity.entity_id).collect::<Vec<_>>(), [ann, late]);
    assert_eq!((lore.state.entities().count(), lore.state.entity_count()), (1, 1));
    assert_eq!((lore.state.newest_entities().count(), lore.state.public_entity_count()), (1, 1));
    let key = |number| text(number, &[]).key;
    let updated = lore.entity(ben).updated_at;
    // One entity: posts of others stay, and a text that is still shown stays whatever is asked for.
    let text_keys = vec![key(9), key(4), key(1)];
    let one = LoreCommand::EmptyArchive { entity_ids: vec![ann, ann], posts: Vec::new(), text_keys };
    let expected = LoreEvent::ArchiveEmptied {
        entity_ids: vec![ann],
        post_ids: vec![ann_post],
        text_keys: vec![key(1), key(2), key(9)],
        orphan_ids: vec![ben],
    };
    assert_eq!(lore.expect_event(one), expected);
    assert!(lore.state.entity(ann).is_none() && lore.state.post(ann_post).is_none());
    assert_eq!((lore.entity(ben).details().parent, lore.entity(ben).revision), (None, 2));
    assert!(lore.entity(ben).updated_at > updated);
    let updated = lore.entity(ben).updated_at;
    // The archived child loses its parent when it comes back.
    assert_eq!(lore.entity(late).details().parent, Some(ann));
    let restored = lore.expect_event(restore(late));
    assert_eq!(
        restored,
        LoreEvent::EntityRestored { entity_id: late, parent_cleared: true, actor_cleared: false, hidden: false }
    );
    assert_eq!(lore.entity(late).details().parent, None);
    // All: only the archived post is left.
    let expected = LoreEvent::ArchiveEmptied {
        entity_ids: vec![],
        post_ids: vec![gone],
        text_keys: vec![key(5)],
        orphan_ids: vec![],
    };
    assert_eq!(lore.expect_event(empty_archive(&[])), expected);
    let ids: Vec<u64> = lore.entity(ben).details().posts.iter().map(|post| post.post_id).collect();
    assert_eq!((ids, lore.entity(ben).revision, lore.entity(ben).updated_at), (vec![shown], 2, updated));
    let refusal = lore.expect_refusal(empty_archive(&[]));
    assert_eq!((&refusal, refusal.kind()), (&LoreRefusal::ArchiveEmpty, LoreRefusalKind::Unchanged));
}

#[test]
fn a_state_is_read_as_it_was_written() {
    let mut lore = LoreFixture::empty();
    for number in 0..600_u64 {
        let parent = number.checked_sub(299).filter(|parent| *parent > 0);
        let tags = texts(&[&format!("tag {}", number % 7), "all"]);
        let aliases = if number % 3 == 0 { texts(&["Somebody", "Élan"]) } else { Vec::new() };
        let id = lore.create(NewEntity {
            parent,
            tags,
            aliases,
            text: Some(text(u8::try_from(number % 256).unwrap(), &[number, number + 1])),
            ..character(&format!("Name \"{number}\""))
        });
        if number % 5 == 0 {
            lore.post(id, "Post", Some(text(0, &[1])));
        }
    }
    lore.expect_event(archive(17));
    let stored = serde_json::to_string(&lore.state).unwrap();
    let read: LoreState = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, lore.state);
    assert_eq!(serde_json::to_string(&read).unwrap(), stored);
    let parts = lore.state.to_parts();
    assert_eq!(parts.len(), 1);
    let write = || serde_json::to_value(&parts[0]).unwrap();
    let join = |parts: Vec<serde_json::Value>| {
        let parts = parts.into_iter().map(serde_json::from_value).collect::<Result<_, _>>().ok()?;
        LoreState::from_parts(parts)
    };
    assert_eq!(join(vec![write()]), Some(lore.state.clone()));
    let torn = |change: fn(&mut serde_json::Value)| {
        let mut part = write();
        change(&mut part);
        part
    };
    assert!(join(vec![]).is_none());
    assert!(join(vec![write(), write()]).is_none());
    assert!(join(vec![write(), json!({ "entities": [] })]).is_some());
    assert!(join(vec![json!({ "entities": [] }), write()]).is_none());
    assert!(join(vec![torn(|part| drop(part["entities"].as_array_mut().unwrap().pop()))]).is_none());
    assert!(join(vec![torn(|part| part["entities"].as_array_mut().unwrap().swap(0, 1))]).is_none());
    assert!(join(vec![torn(|part| part["header"]["tags"] = json!([]))]).is_none());
    assert!(join(vec![torn(|part| part["entities"][0][8] = json!(i64::MAX))]).is_none());
}

/// A private post would tell that it is there by the moment of its entity.
#[test]
fn a_private_post_moves_the_entity_only_for_those_who_see_it() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let post = lore.post(ann, "Secrets", None);
    let public = lore.entity(ann).updated_for(|post| !post.is_private);
    lore.expect_event(update_post(ann, post, PostChange { is_private: Some(true), ..PostChange::default() }));
    let entity = lore.entity(ann);
    assert!(entity.updated_for(|_| true) > public && entity.updated_for(|post| !post.is_private) < public);
    assert_eq!(entity.updated_for(|post| !post.is_private), entity.updated_at);
}

#[test]
fn a_renumbered_entity_keeps_everything_and_answers_to_its_old_id() {
    let mut lore = LoreFixture::empty();
    let above = LoreCommand::ReserveIds { above: 3_000_000_000 };
    lore.expect_event(above.clone());
    assert_eq!(lore.expect_refusal(above), LoreRefusal::Unchanged);
    let keep = NewEntity { tags: vec!["Old".to_owned()], ..character("Keep") };
    let keep = lore.create(keep);
    assert_eq!(keep, 3_000_000_001, "ids that are given here are above those of the other place");
    let post = lore.post(keep, "Cellar", None);
    let ann = lore.create(NewEntity { parent: Some(keep), text: Some(text(1, &[keep])), ..character("Ann") });
    let ids = ExplicitIds { id: 77, entity_id: 1_205 };
    let event = lore.expect_event(LoreCommand::RenumberEntity { entity_id: keep, ids });
    assert_eq!((event.entity_id(), event.kind()), (Some(1_205), "entity.renumbered.v1"));

    for id in [keep, 1_205] {
        assert_eq!((lore.entity(id).entity_id, lore.entity(id).id, &*lore.entity(id).name), (1_205, 77, "Keep"));
        assert_eq!(lore.state.current_id(id), 1_205);
    }
    assert_eq!(lore.state.tag_names(lore.entity(1_205)), ["Old"]);
    assert_eq!(lore.state.post(post).unwrap().0.entity_id, 1_205);
    assert_eq!(lore.entity(ann).details().parent, Some(1_205));
    assert_eq!(lore.state.mentioned_by(1_205), [MentionPlace { entity_id: ann, post_id: None }]);
    assert_eq!(lore.state.entities().map(|entity| entity.entity_id).collect::<Vec<_>>(), [1_205, ann]);

    // Whoever knows the old id goes on with it.
    let change = EntityChange { name: Some("The Keep".to_owned()), ..EntityChange::default() };
    lore.expect_event(LoreCommand::UpdateEntity { entity_id: keep, expected_revision: None, change: Box::new(change) });
    assert_eq!(&*lore.entity(1_205).name, "The Keep");
    let ids = ExplicitIds { id: 78, entity_id: ann };
    let taken = lore.expect_refusal(LoreCommand::RenumberEntity { entity_id: keep, ids });
    assert_eq!(taken, LoreRefusal::IdTaken { field: "entity_id", id: ann });
    let ben = lore.create(NewEntity { parent: Some(keep), text: Some(text(2, &[keep])), ..character("Ben") });
    assert_eq!(lore.entity(ben).details().parent, Some(1_205));
    assert_eq!(lore.entity(ben).text.as_ref().unwrap().mentions[..], [1_205]);
}

#[test]
fn an_entity_from_elsewhere_takes_its_id_from_an_earlier_name() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let ids = ExplicitIds { id: 900, entity_id: 900 };
    lore.expect_event(LoreCommand::RenumberEntity { entity_id: ann, ids });
    assert_eq!(&*lore.entity(ann).name, "Ann");
    let ben = lore.create(NewEntity { ids: Some(ExplicitIds { id: 1, entity_id: ann }), ..character("Ben") });
    assert_eq!((ben, &*lore.entity(ann).name, &*lore.entity(900).name), (ann, "Ben", "Ann"));
}
