//! Tests of the limits of lore: exactly at each, and one past it.

use std::collections::BTreeMap;

use super::tests::{LoreFixture, character, new_post, text, texts, update, update_post};
use super::*;
use crate::limits;

fn create(new: NewEntity) -> LoreCommand {
    LoreCommand::CreateEntity(Box::new(new))
}

fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number}")).collect()
}

/// Expects that the first command is accepted and the second refused, on copies of the same lore.
#[track_caller]
fn expect_end(lore: &LoreFixture, fits: LoreCommand, past: LoreCommand, refusal: &LoreRefusal) {
    let copy = || LoreFixture { state: lore.state.clone(), ..LoreFixture::empty() };
    copy().expect_event(fits);
    assert_eq!(copy().expect_refusal(past), *refusal);
}

/// Puts a text into one field of a new entity.
type SetField = fn(String) -> NewEntity;

#[test]
fn short_texts_have_an_end() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let post = lore.post(ann, "Post", None);
    let source = |id: String, hash: String| NewEntity {
        source: Some(ImportSource { id, hash, posts: BTreeMap::new() }),
        ..character("A")
    };
    let fields: [(&str, usize, SetField); 7] = [
        ("name", limits::NAME_CHARS_MAX, |text| character(&text)),
        ("subtype", limits::NAME_CHARS_MAX, |subtype| NewEntity { subtype, ..character("A") }),
        ("tags", limits::TAG_CHARS_MAX, |tag| NewEntity { tags: vec![tag], ..character("A") }),
        ("aliases", limits::NAME_CHARS_MAX, |alias| NewEntity { aliases: vec![alias], ..character("A") }),
        ("image", limits::LORE_IMAGE_CHARS_MAX, |image| NewEntity { image: Some(image), ..character("A") }),
        ("date", limits::NAME_CHARS_MAX, |date| NewEntity { date: Some(date), ..character("A") }),
        ("actor_id", limits::ID_CHARS_MAX, |actor_id| NewEntity { actor_id: Some(actor_id), ..character("A") }),
    ];
    for (field, chars_max, new) in fields {
        let refusal = LoreRefusal::TooLong { field, chars: chars_max + 1, chars_max };
        assert_eq!(refusal.kind(), LoreRefusalKind::Invalid);
        // Characters count, not bytes, and spaces around do not.
        let (fitting, longer) = (format!(" {} ", "é".repeat(chars_max)), "é".repeat(chars_max + 1));
        expect_end(&lore, create(new(fitting)), create(new(longer)), &refusal);
    }
    let chars_max = limits::LORE_SOURCE_CHARS_MAX;
    let refusal = LoreRefusal::TooLong { field: "source", chars: chars_max + 1, chars_max };
    let long = |more: usize| "x".repeat(chars_max + more);
    expect_end(&lore, create(source(long(0), long(0))), create(source(long(1), long(0))), &refusal);
    expect_end(&lore, create(source(long(0), long(0))), create(source(long(0), long(1))), &refusal);
    let chars_max = limits::NAME_CHARS_MAX;
    let refusal = LoreRefusal::TooLong { field: "name", chars: chars_max + 1, chars_max };
    let name = |more: usize| "x".repeat(chars_max + more);
    expect_end(&lore, new_post(ann, &name(0), None), new_post(ann, &name(1), None), &refusal);
    let renamed = |more| update_post(ann, post, PostChange { name: Some(name(more)), ..PostChange::default() });
    expect_end(&lore, renamed(0), renamed(1), &refusal);
    let renamed = |more| update(ann, EntityChange { name: Some(name(more)), ..EntityChange::default() });
    expect_end(&lore, renamed(0), renamed(1), &refusal);
}

#[test]
fn lists_of_one_entity_have_an_end() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let (count, count_max) = (limits::LORE_TAGS_MAX + 1, limits::LORE_TAGS_MAX);
    let refusal = LoreRefusal::TooManyOnOne { things: "tags", field: "tags", count, count_max };
    assert_eq!((refusal.kind(), refusal.pointer().unwrap().as_str()), (LoreRefusalKind::TooLarge, "/tags"));
    let tagged = |count| NewEntity { tags: numbered("t", count), ..character("A") };
    expect_end(&lore, create(tagged(count_max)), create(tagged(count)), &refusal);
    let change = |count| EntityChange { tags: Some(numbered("t", count)), ..EntityChange::default() };
    expect_end(&lore, update(ann, change(count_max)), update(ann, change(count)), &refusal);
    // A repeated tag does not count.
    let repeated = NewEntity { tags: [numbered("t", count_max), texts(&["T0"])].concat(), ..character("A") };
    expect_end(&lore, create(repeated), create(tagged(count)), &refusal);

    let (count, count_max) = (limits::LORE_ALIASES_MAX + 1, limits::LORE_ALIASES_MAX);
    let refusal = LoreRefusal::TooManyOnOne { things: "aliases", field: "aliases", count, count_max };
    let named = |count| NewEntity { aliases: numbered("a", count), ..character("A") };
    expect_end(&lore, create(named(count_max)), create(named(count)), &refusal);

    let (count, count_max) = (limits::LORE_MENTIONS_MAX + 1, limits::LORE_MENTIONS_MAX);
    let refusal = LoreRefusal::TooManyOnOne { things: "mentioned entities", field: "entry", count, count_max };
    let mentioning = |count: usize| text(1, &(1..=count as u64).collect::<Vec<_>>());
    let with_text = |count| create(NewEntity { text: Some(mentioning(count)), ..character("A") });
    expect_end(&lore, with_text(count_max), with_text(count), &refusal);
    let post = |count| new_post(ann, "Post", Some(mentioning(count)));
    expect_end(&lore, post(count_max), post(count), &refusal);

    let (count, count_max) = (limits::LORE_ENTITY_POSTS_MAX + 1, limits::LORE_ENTITY_POSTS_MAX);
    for number in 1..count_max {
        lore.post(ann, &format!("Post {number}"), None);
    }
    let refusal = LoreRefusal::TooManyOnOne { things: "posts", field: "entity_id", count, count_max };
    lore.expect_event(new_post(ann, "Last", None));
    assert_eq!(lore.expect_refusal(new_post(ann, "More", None)), refusal);
}

#[test]
fn the_lore_of_a_campaign_has_an_end() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let too_many = |things, count_max| LoreRefusal::TooMany { things, count_max };
    assert_eq!(too_many("posts", 1).kind(), LoreRefusalKind::TooLarge);
    // The totals stand for entities and posts that would take long to create.
    let full = |change: fn(&mut LoreState)| {
        let mut state = lore.state.clone();
        change(&mut state);
        LoreFixture { state, ..LoreFixture::empty() }
    };
    let mut almost = full(|state| state.entity_total = limits::LORE_ENTITIES_MAX - 1);
    almost.character("Last");
    let refusal = almost.expect_refusal(create(character("More")));
    assert_eq!(refusal, too_many("entities", limits::LORE_ENTITIES_MAX));
    let mut almost = full(|state| state.post_total = limits::LORE_POSTS_MAX - 1);
    almost.post(ann, "Last", None);
    let refusal = almost.expect_refusal(new_post(ann, "More", None));
    assert_eq!(refusal, too_many("posts", limits::LORE_POSTS_MAX));
    let mut almost = full(|state| {
        for number in 1..limits::LORE_CAMPAIGN_TAGS_MAX {
            state.tag_id(&format!("t{number}"), jiff::Timestamp::UNIX_EPOCH);
        }
    });
    let tagged = |tags: &[&str]| NewEntity { tags: texts(tags), ..character("A") };
    let refusal = almost.expect_refusal(create(tagged(&["new", "newer"])));
    assert_eq!(refusal, too_many("tags", limits::LORE_CAMPAIGN_TAGS_MAX));
    almost.create(tagged(&["new", "t1"]));
    almost.create(tagged(&["NEW", "t2"]));
    let refusal = almost.expect_refusal(create(tagged(&["newer"])));
    assert_eq!(refusal, too_many("tags", limits::LORE_CAMPAIGN_TAGS_MAX));
    let refusal = almost.expect_refusal(LoreCommand::CreateTag { name: "newer".to_owned() });
    assert_eq!(refusal, too_many("tags", limits::LORE_CAMPAIGN_TAGS_MAX));
}

#[test]
fn ids_have_an_end() {
    let mut lore = LoreFixture::empty();
    let id_max = limits::LORE_ID_MAX;
    let with_ids = |id, entity_id| create(NewEntity { ids: Some(ExplicitIds { id, entity_id }), ..character("A") });
    let outside = |field, id| LoreRefusal::IdOutOfRange { field, id, id_max };
    assert_eq!(outside("id", 0).kind(), LoreRefusalKind::Invalid);
    expect_end(&lore, with_ids(1, id_max), with_ids(1, id_max + 1), &outside("entity_id", id_max + 1));
    expect_end(&lore, with_ids(id_max, 1), with_ids(id_max + 1, 1), &outside("id", id_max + 1));
    expect_end(&lore, with_ids(1, 1), with_ids(0, 1), &outside("id", 0));
    expect_end(&lore, with_ids(1, 1), with_ids(1, 0), &outside("entity_id", 0));
    lore.expect_event(with_ids(1, id_max));
    assert_eq!(lore.expect_refusal(create(character("B"))), outside("entity_id", id_max + 1));
    let post = |post_id| {
        let name = "Post".to_owned();
        let new = NewPost { entity_id: id_max, name, is_private: false, text: None, post_id: Some(post_id) };
        LoreCommand::CreatePost(Box::new(new))
    };
    expect_end(&lore, post(id_max), post(id_max + 1), &outside("post_id", id_max + 1));
    // Mentions past the range name nothing and are left out.
    let mentioning = NewEntity { text: Some(text(1, &[0, 1, id_max, id_max + 1])), ..character("B") };
    let mut lore = LoreFixture::empty();
    let id = lore.create(mentioning);
    assert_eq!(lore.entity(id).text, Some(text(1, &[1, id_max])));
}

#[test]
fn heads_of_a_campaign_have_an_end() {
    let mut lore = LoreFixture::empty();
    let ann = lore.character("Ann");
    let post = lore.post(ann, "Post", None);
    assert_eq!(lore.state.head_bytes, 7);
    let bytes_max = limits::LORE_HEAD_BYTES_MAX;
    let bytes = bytes_max - 20;
    lore.state.head_bytes = bytes;
    let refusal = LoreRefusal::TooMuchText { bytes, bytes_after: bytes_max + 1, bytes_max };
    assert_eq!(refusal.kind(), LoreRefusalKind::TooLarge);
    let name = |more: usize| "x".repeat(20 + more);
    expect_end(&lore, create(character(&name(0))), create(character(&name(1))), &refusal);
    let mentioning = |count: u64| text(1, &(1..=count).collect::<Vec<_>>());
    let new = |letters: usize| NewEntity {
        text: Some(mentioning(1)),
        aliases: texts(&["ab"]),
        subtype: "s".to_owned(),
        date: Some("d".to_owned()),
        image: Some("i".to_owned()),
        actor_id: Some("a".to_owned()),
        source: Some(ImportSource { id: "12".to_owned(), hash: "3".to_owned(), posts: BTreeMap::new() }),
        ..character(&"x".repeat(letters))
    };
    expect_end(&lore, create(new(3)), create(new(4)), &refusal);
    expect_end(&lore, new_post(ann, &name(0), None), new_post(ann, &name(1), None), &refusal);
    let renamed = |more: usize| EntityChange { name: Some(name(more + 3)), ..EntityChange::default() };
    expect_end(&lore, update(ann, renamed(0)), update(ann, renamed(1)), &refusal);
    let renamed = |more: usize| PostChange { name: Some(name(more + 4)), ..PostChange::default() };
    expect_end(&lore, update_post(ann, post, renamed(0)), update_post(ann, post, renamed(1)), &refusal);
    // Lore past the limit may shrink.
    lore.state.head_bytes = bytes_max + 100;
    lore.expect_event(update(ann, EntityChange { name: Some("An".to_owned()), ..EntityChange::default() }));
    assert_eq!(lore.state.head_bytes, bytes_max + 99);
    lore.expect_event(update_post(ann, post, PostChange { is_private: Some(true), ..PostChange::default() }));
    assert_eq!(lore.expect_refusal(create(character("A"))).kind(), LoreRefusalKind::TooLarge);
}
