//! Tests of the search index on every store: the same words are found everywhere, and nobody finds what he may not see.

use std::sync::{Arc, Mutex};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use skald_journal::{Journal, SearchClass, SearchQuery, VerifyVerdict, rebuild, verify};
use skald_store::Memory;

use crate::indexed_notes::{
    GAME_MASTER, IndexedNote, NoteEvent, NoteText, Notebook, PLAYER, note, note_kinds, serials, texts_kind,
};
use crate::test_stores::{TestStore, on_every_store};

on_every_store! {
    words_are_found_in_every_text,
    the_last_word_finds_longer_words,
    characters_without_spaces_are_found_as_phrases,
    folded_letters_and_emoji_are_found,
    hostile_queries_find_words_and_nothing_else,
    a_class_that_was_not_asked_for_is_not_found,
    campaigns_and_collections_are_apart,
    rejected_rows_do_not_count_to_the_limit,
    only_given_rows_are_found,
    a_search_goes_on_below_a_serial,
    changed_and_deleted_notes_are_found_as_they_are_now,
    a_note_that_becomes_private_is_no_longer_found_by_players,
    words_that_occur_three_times_are_marked,
    texts_in_side_rows_are_found_and_removed,
    rows_that_a_batch_puts_and_removes_are_gone,
    very_long_texts_are_indexed,
    a_rebuilt_index_gives_the_same_answers,
    random_texts_are_found_as_in_memory,
    many_side_rows_are_read_at_once,
}

async fn assert_sound(journal: &dyn Journal) {
    let verdict = verify(journal, &note_kinds()).await.unwrap();
    assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
}

fn named(serial: u32, name: &str, extra: &str, text: &str) -> IndexedNote {
    IndexedNote { name: name.to_owned(), extra: extra.to_owned(), ..note(serial, text) }
}

async fn words_are_found_in_every_text(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([
        named(1, "The Red Dragon", "Smaug", "It sleeps on gold."),
        named(2, "A hoard", "gold", "Guarded by a red dragon."),
        named(3, "Owl", "bird", ""),
        named(4, "Gold", "", "don't touch"),
    ])
    .await;
    for (query, expected) in [
        ("dragon", &[2, 1][..]),
        ("DRAGON red", &[2, 1]),
        ("gold", &[4, 2, 1]),
        ("smaug", &[1]),
        ("bird", &[3]),
        ("red gold", &[2, 1]),
        ("gold hoard dragon", &[2]),
        ("dragon owl", &[]),
        ("don't", &[4]),
        ("golden", &[]),
        ("unicorn", &[]),
    ] {
        assert_eq!(book.find(query).await, expected, "{query}");
    }
    assert_sound(&*place.journal).await;
}

async fn the_last_word_finds_longer_words(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([note(1, "dragonfly"), note(2, "dragon"), note(3, "drag"), note(4, "a dragoon rides")]).await;
    for (query, expected) in [
        ("drag", &[4, 3, 2, 1][..]),
        ("drago", &[4, 2, 1]),
        ("dragonf", &[1]),
        ("dra", &[]),
        ("drag rides", &[]),
        ("rides drag", &[4]),
        ("rides drago", &[4]),
    ] {
        assert_eq!(book.find(query).await, expected, "{query}");
    }
}

async fn characters_without_spaces_are_found_as_phrases(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([
        named(1, "東京都庁", "", "The 塔 stands"),
        named(2, "京", "都", "京 x 都"),
        named(3, "", "", "都京 京,都"),
        named(4, "", "", "สวัสดีชาวโลก"),
        named(5, "", "", "カフェで会う"),
    ])
    .await;
    for (query, expected) in [
        ("京都", &[3, 1][..]),
        ("東京都", &[1]),
        ("東都", &[]),
        ("京", &[3, 2, 1]),
        ("都 京", &[3, 2, 1]),
        ("都京", &[3]),
        ("塔 stand", &[1]),
        ("東京 塔", &[1]),
        ("สวัสดี", &[4]),
        ("ชาว", &[4]),
        ("โลกชาว", &[]),
        ("カフェ", &[5]),
        ("フェで会", &[5]),
    ] {
        assert_eq!(book.find(query).await, expected, "{query}");
    }
    assert_sound(&*place.journal).await;
}

async fn folded_letters_and_emoji_are_found(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([
        note(1, "Ævar þór, Straße"),
        note(2, "AEVAR STRASSE"),
        note(3, "E\u{301}owyn ﬁre"),
        note(4, "🐉🔥 👍🏽 🇩🇪 ❤\u{fe0f}"),
        note(5, "🇪🇩 👨\u{200d}👩\u{200d}👧"),
    ])
    .await;
    for (query, expected) in [
        ("aevar", &[2, 1][..]),
        ("Ævar", &[2, 1]),
        ("straße", &[2, 1]),
        ("strasse", &[2, 1]),
        ("þór x", &[]),
        ("thor", &[1]),
        ("éowyn", &[3]),
        ("eowyn", &[3]),
        ("fire", &[3]),
        ("ＦＩＲＥ", &[3]),
        ("🐉", &[4]),
        ("🔥🐉", &[4]),
        ("👍", &[4]),
        ("❤", &[4]),
        ("🇩🇪", &[4]),
        ("👩", &[5]),
    ] {
        assert_eq!(book.find(query).await, expected, "{query}");
    }
}

async fn hostile_queries_find_words_and_nothing_else(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([note(1, "a and or not near b"), note(2, "it's \"quoted\" \\ body:x {name} 100%_y"), note(3, "plain")])
        .await;
    for (query, expected) in [
        ("", &[][..]),
        ("   ", &[]),
        ("*", &[]),
        ("\"", &[]),
        ("'", &[]),
        ("\0", &[]),
        ("()", &[]),
        ("-plain", &[3]),
        ("pla\0in", &[]),
        ("plain\0", &[3]),
        ("plain*", &[3]),
        ("AND", &[1]),
        ("a AND b", &[1]),
        ("plain OR and", &[]),
        ("NOT plain", &[]),
        ("NEAR(a b)", &[1]),
        ("name : x", &[2]),
        ("{name extra} : x", &[]),
        ("body:x", &[2]),
        ("it's", &[2]),
        ("'quoted' \\", &[2]),
        ("' | 'plain", &[3]),
        ("plain' & !'and", &[]),
        ("100%", &[2]),
        ("plain:*", &[3]),
        ("^plain", &[3]),
        ("a", &[1]),
        ("+plain", &[3]),
        ("/", &[]),
    ] {
        assert_eq!(book.find(query).await, expected, "{query:?}");
    }
    let long = ["plain ".repeat(800), "x'\"\\".repeat(1_250), "京".repeat(5_000), "\u{301}".repeat(5_000)];
    for query in &long {
        book.find(query).await;
    }
    assert_eq!(book.find(&long[0]).await, [3]);
}

async fn a_class_that_was_not_asked_for_is_not_found(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let notes =
        (0..40_u32).map(|serial| IndexedNote { class: u8::try_from(serial % 4).unwrap(), ..note(serial, "dragon") });
    book.write(notes).await;
    let expected =
        |classes: &[u32]| (0..40_u32).rev().filter(|serial| classes.contains(&(serial % 4))).collect::<Vec<_>>();
    assert_eq!(serials(&book.search("dragon", PLAYER).await), expected(&[0, 1]));
    assert_eq!(serials(&book.search("dragon", GAME_MASTER).await), expected(&[0, 1, 2]));
    assert_eq!(serials(&book.search("dragon", &[SearchClass::GameMaster]).await), expected(&[2]));
    assert_eq!(serials(&book.search("dragon", &SearchClass::ALL).await), expected(&[0, 1, 2, 3]));
    let twice = [SearchClass::Public, SearchClass::Public];
    assert_eq!(serials(&book.search("dragon", &twice).await), expected(&[0]));
    assert_eq!(book.search("dragon", &[]).await, []);
    // What is rejected was allowed to be seen, so that nothing of other classes leaks through the filter either.
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let accepts = Arc::new(move |serial| {
        heard.lock().unwrap().push(serial);
        false
    });
    assert_eq!(place.journal.search(SearchQuery { accepts, ..book.query("dragon", PLAYER) }).await.unwrap(), []);
    asked.lock().unwrap().sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(*asked.lock().unwrap(), expected(&[0, 1]));
}

async fn campaigns_and_collections_are_apart(place: TestStore) {
    let books = ["c", "cc", ""].map(|campaign| Notebook::new(&place.journal, campaign));
    for (number, book) in (1..).zip(&books) {
        book.write([note(number, "dragon"), note(10, "dragon")]).await;
    }
    for (number, book) in (1..).zip(&books) {
        assert_eq!(book.find("dragon").await, [10, number]);
    }
    let other = SearchQuery { collection: "posts".to_owned(), ..books[0].query("dragon", GAME_MASTER) };
    assert_eq!(place.journal.search(other).await.unwrap(), []);
    assert_eq!(Notebook::new(&place.journal, "none").find("dragon").await, [0; 0]);
}

async fn rejected_rows_do_not_count_to_the_limit(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write((0..500).map(|serial| IndexedNote { class: u8::from(serial % 2 == 0), ..note(serial, "dragon") })).await;
    let query = |limit: usize| SearchQuery {
        limit,
        accepts: Arc::new(|serial| serial % 50 == 7),
        ..book.query("dragon", GAME_MASTER)
    };
    let find = async |limit| serials(&place.journal.search(query(limit)).await.unwrap());
    assert_eq!(find(3).await, [457, 407, 357]);
    assert_eq!(find(100).await, [457, 407, 357, 307, 257, 207, 157, 107, 57, 7]);
    assert_eq!(find(0).await, [0; 0]);
    let newest = SearchQuery { limit: 5, ..book.query("dragon", GAME_MASTER) };
    assert_eq!(serials(&place.journal.search(newest).await.unwrap()), [499, 498, 497, 496, 495]);
    let all = SearchQuery { limit: usize::MAX, ..book.query("dragon", GAME_MASTER) };
    assert_eq!(place.journal.search(all).await.unwrap().len(), 500);
}

async fn only_given_rows_are_found(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let text = |serial: u32| if serial.is_multiple_of(3) { "dragon dragon dragon" } else { "dragon 京都" };
    let notes =
        (0..300_u32).map(|serial| IndexedNote { class: u8::from(serial % 2 == 0), ..note(serial, text(serial)) });
    book.write(notes).await;
    let find = async |words: &str, within: &[u32], below: Option<u32>, limit: usize| {
        let query = SearchQuery { within: Some(within.into()), below, limit, ..book.query(words, GAME_MASTER) };
        let hits = place.journal.search(query).await.unwrap();
        hits.iter().map(|hit| (hit.serial, hit.is_frequent)).collect::<Vec<_>>()
    };
    let given = [1, 2, 9, 200, 299, 4_000];
    for words in ["dragon", "drag"] {
        let all = [(299, false), (200, false), (9, true), (2, false), (1, false)];
        assert_eq!(find(words, &given, None, 100).await, all, "{words}");
        assert_eq!(find(words, &given, None, 2).await, all[..2], "{words}");
        assert_eq!(find(words, &given, Some(200), 100).await, all[2..], "{words}");
        assert_eq!(find(words, &[], None, 100).await, []);
        assert_eq!(find(words, &[9], None, 100).await, [(9, true)]);
        assert_eq!(find(words, &[9], Some(9), 100).await, []);
    }
    assert_eq!(find("京都", &given, None, 100).await, [(299, false), (200, false), (2, false), (1, false)]);
}

async fn a_search_goes_on_below_a_serial(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([0, 1, 5, 9, u32::MAX].map(|serial| note(serial, "dragon"))).await;
    let below = async |below: u32| {
        let query = SearchQuery { below: Some(below), limit: 2, ..book.query("dragon", GAME_MASTER) };
        serials(&place.journal.search(query).await.unwrap())
    };
    assert_eq!(book.find("dragon").await, [u32::MAX, 9, 5, 1, 0]);
    assert_eq!(below(u32::MAX).await, [9, 5]);
    assert_eq!(below(5).await, [1, 0]);
    assert_eq!(below(1).await, [0]);
    assert_eq!(below(0).await, [0; 0]);
}

async fn changed_and_deleted_notes_are_found_as_they_are_now(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    book.write([note(1, "dragon"), note(2, "dragon"), note(3, "dragon")]).await;
    book.write([note(1, "owl")]).await;
    assert_eq!((book.find("dragon").await, book.find("owl").await), (vec![3, 2], vec![1]));
    // Twice in one batch, and once with nothing changed.
    book.write([note(2, "owl"), note(2, "eagle"), note(3, "dragon")]).await;
    assert_eq!((book.find("owl").await, book.find("eagle").await), (vec![1], vec![2]));
    book.execute(NoteEvent::Removed(3), Vec::new()).await;
    assert_eq!(book.find("dragon").await, [0; 0]);
    book.write([IndexedNote { text: NoteText::NotIndexed, ..note(2, "") }]).await;
    assert_eq!(book.find("eagle").await, [0; 0]);
    book.write([note(2, "eagle"), note(3, "dragon")]).await;
    assert_eq!((book.find("eagle").await, book.find("dragon").await), (vec![2], vec![3]));
    assert_sound(&*place.journal).await;
}

async fn a_note_that_becomes_private_is_no_longer_found_by_players(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let find = async || (serials(&book.search("dragon", PLAYER).await), book.find("dragon").await);
    book.write([note(1, "dragon"), IndexedNote { class: 2, ..note(2, "dragon") }]).await;
    assert_eq!(find().await, (vec![1], vec![2, 1]));
    book.write([IndexedNote { class: 2, ..note(1, "dragon") }]).await;
    assert_eq!(find().await, (vec![], vec![2, 1]));
    book.write([IndexedNote { class: 1, ..note(2, "dragon") }]).await;
    assert_eq!(find().await, (vec![2], vec![2, 1]));
    assert_sound(&*place.journal).await;
}

async fn words_that_occur_three_times_are_marked(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let hidden = IndexedNote { class: 2, ..note(5, "dragon dragon dragon") };
    book.write([
        note(1, "dragon dragon, Dragon"),
        named(2, "dragon", "dragon", "dragon dragon"),
        note(3, "dragonfly dragonfly dragonfly dragon"),
        note(4, "京都 京都 京都 red red red dragon dragon dragon"),
        hidden,
    ])
    .await;
    let frequent = async |text: &str| {
        let hits = book.search(text, GAME_MASTER).await;
        hits.iter().map(|hit| (hit.serial, hit.is_frequent)).collect::<Vec<_>>()
    };
    let marks = |numbers: [u32; 5], is_frequent: [bool; 5]| numbers.into_iter().zip(is_frequent).collect::<Vec<_>>();
    assert_eq!(frequent("dragon").await, marks([5, 4, 3, 2, 1], [true, true, true, false, true]));
    assert_eq!(frequent("dragon red").await, [(4, true)]);
    assert_eq!(frequent("red dragonf").await, []);
    assert_eq!(frequent("京都").await, [(4, true)]);
    assert_eq!(frequent("dragonfly").await, [(3, true)]);
    assert_eq!(frequent("dragon 京").await, [(4, true)]);
    // Neighbours among the frequent words are no phrase.
    book.write([note(6, "京 x 都 y 京 x 都 y 京 x 都")]).await;
    assert_eq!(frequent("京都").await, [(4, true)]);
    assert_eq!(frequent("京 都").await, [(6, true), (4, true)]);
}

async fn texts_in_side_rows_are_found_and_removed(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let by_key = |serial: u32, key: &str| IndexedNote { text: NoteText::Key(key.to_owned()), ..note(serial, "") };
    book.execute(NoteEvent::Written(by_key(1, "k1")), vec![book.text_row("k1", "a dragon \"sleeps\"")]).await;
    // A later change finds the row where it was stored.
    book.write([IndexedNote { name: "Smaug".to_owned(), ..by_key(1, "k1") }]).await;
    book.execute(NoteEvent::Written(by_key(2, "k2")), vec![book.text_row("k2", "a dragon wakes")]).await;
    assert_eq!((book.find("dragon").await, book.find("smaug sleeps").await), (vec![2, 1], vec![1]));
    assert_eq!(book.find("markdown").await, [0; 0]);
    assert_eq!(book.find("salt").await, [0; 0]);
    assert_sound(&*place.journal).await;
    book.execute(NoteEvent::Purged { serial: 2, key: "k2".to_owned() }, Vec::new()).await;
    assert_eq!(book.find("dragon").await, [1]);
    let kind = texts_kind(&book.stream);
    assert_eq!(place.journal.get(&kind, "k2").await.unwrap(), None);
    assert!(place.journal.get(&kind, "k1").await.unwrap().is_some());
    assert_sound(&*place.journal).await;
    place.journal.erase_deleted_rows().await.unwrap();
    assert_eq!(book.find("dragon").await, [1]);
}

async fn rows_that_a_batch_puts_and_removes_are_gone(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let written = |serial: u32, key: &str| {
        let text = NoteText::Key(key.to_owned());
        book.execute(NoteEvent::Written(IndexedNote { text, ..note(serial, "") }), vec![book.text_row(key, "dragon")])
    };
    let purged = |serial: u32, key: &str| book.execute(NoteEvent::Purged { serial, key: key.to_owned() }, Vec::new());
    // The first command waits for nobody, so that the others are one batch behind it.
    tokio::join!(written(1, "a"), written(2, "b"), purged(2, "b"), written(3, "c"), purged(3, "c"), written(3, "c"));
    let kind = texts_kind(&book.stream);
    let keys: Vec<String> = place.journal.list(&kind, "", 10).await.unwrap().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["a", "c"]);
    assert_eq!(book.find("dragon").await, [3, 1]);
    assert_sound(&*place.journal).await;
}

async fn very_long_texts_are_indexed(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let words = (0..120_000).map(|number| format!("w{number:06}")).collect::<Vec<_>>().join(" ");
    let characters: String = ('\u{4e00}'..'\u{9000}').chain("の京".repeat(400).chars()).collect();
    book.write([
        note(1, &format!("{words} dragon")),
        note(2, &format!("{characters} {} dragon", "京都の夜")),
        note(3, &"x".repeat(1_000_000)),
        note(4, &"dragon ".repeat(60_000)),
    ])
    .await;
    assert_eq!(book.find("w000000").await, [1]);
    assert_eq!(book.find("w119999").await, [0; 0], "too many different words");
    assert_eq!(book.find("dragon").await, [4, 2]);
    assert_eq!(book.find("京都の夜").await, [2]);
    assert_eq!(book.find("一丁").await, [2]);
    assert_eq!(book.find("夜の都").await, [0; 0]);
    assert_eq!(book.find(&"x".repeat(1_000)).await, [3]);
    assert_sound(&*place.journal).await;
}

async fn a_rebuilt_index_gives_the_same_answers(place: TestStore) {
    let book = Notebook::new(&place.journal, "c");
    let other = Notebook::new(&place.journal, "d");
    other.write([note(1, "dragon")]).await;
    for serial in 1..30 {
        let text = NoteText::Key(format!("k{serial}"));
        let row = book.text_row(&format!("k{serial}"), &"dragon owl ".repeat(usize::try_from(serial % 5).unwrap()));
        let class = u8::try_from(serial % 3).unwrap();
        book.execute(NoteEvent::Written(IndexedNote { class, text, ..note(serial, "") }), vec![row]).await;
    }
    book.execute(NoteEvent::Removed(7), Vec::new()).await;
    let answers = async || {
        let mut answers = Vec::new();
        for (text, classes) in [("dragon", GAME_MASTER), ("dragon", PLAYER), ("owl drag", PLAYER)] {
            answers.push(book.search(text, classes).await);
        }
        answers.push(other.search("dragon", PLAYER).await);
        answers
    };
    let before = answers().await;
    assert_eq!((before[0].len(), before[3].len()), (23, 1));
    assert_eq!(rebuild(&*place.journal, &note_kinds()).await.unwrap(), 29);
    assert_eq!(answers().await, before);
    assert_sound(&*place.journal).await;
    place.journal.clear_search_index().await.unwrap();
    assert!(answers().await.iter().all(Vec::is_empty));
    rebuild(&*place.journal, &note_kinds()).await.unwrap();
    assert_eq!(answers().await, before);
    place.journal.delete_documents(&book.stream).await.unwrap();
    assert_eq!((book.find("dragon").await, other.find("dragon").await), (vec![], vec![1]));
}

/// Words that are prefixes and parts of each other, in several scripts.
const VOCABULARY: [&str; 16] = [
    "a",
    "drag",
    "dragon",
    "dragons",
    "dragonfly",
    "fire",
    "Fire-fly",
    "京",
    "都",
    "京都",
    "東京都",
    "🐉",
    "🔥",
    "Æon",
    "é",
    "1",
];

async fn random_texts_are_found_as_in_memory(place: TestStore) {
    let memory: Arc<dyn Journal> = Arc::new(Memory::new());
    let books = [Notebook::new(&place.journal, "c"), Notebook::new(&memory, "c")];
    let mut runner = TestRunner::new(Config::default());
    let words = |most| proptest::collection::vec(proptest::sample::select(&VOCABULARY), 0..most);
    let texts = (words(4), words(3), words(12), 0..4_u8, proptest::bool::ANY);
    let mut random = |most: usize| words(most).new_tree(&mut runner).unwrap().current();
    let queries: Vec<String> = (0..120).map(|_| random(4).join(" ")).collect();
    for round in 0..3 {
        for serial in 0..60_u32 {
            let ((name, extra, text, class, joined), removed) =
                (&texts, proptest::num::u8::ANY).new_tree(&mut runner).unwrap().current();
            let event = if round > 0 && removed < 60 {
                NoteEvent::Removed(serial)
            } else {
                let text = text.join(if joined { "" } else { " " });
                NoteEvent::Written(IndexedNote { class, ..named(serial, &name.join(" "), &extra.join(" "), &text) })
            };
            for book in &books {
                book.execute(event.clone(), Vec::new()).await;
            }
        }
        for (number, query) in queries.iter().enumerate() {
            let classes = &SearchClass::ALL[..=number % 4];
            let [found, expected] = [books[0].search(query, classes).await, books[1].search(query, classes).await];
            assert_eq!(found, expected, "{query:?}, {classes:?}");
        }
    }
    assert_sound(&*place.journal).await;
}

async fn many_side_rows_are_read_at_once(place: TestStore) {
    let journal = place.journal;
    for number in 0..20 {
        journal.put("kind", &format!("k{number:02}"), format!("body {number}")).await.unwrap();
    }
    journal.put("other", "k01", "x".to_owned()).await.unwrap();
    let keys = ["k01", "k07", "none", "it's", "k01"].map(str::to_owned).to_vec();
    let mut found = journal.get_many("kind", keys).await.unwrap();
    found.sort();
    let expected = [("k01", "body 1"), ("k07", "body 7")].map(|(key, body)| (key.to_owned(), body.to_owned()));
    assert_eq!(found, expected);
    assert_eq!(journal.get_many("kind", Vec::new()).await.unwrap(), []);
}
