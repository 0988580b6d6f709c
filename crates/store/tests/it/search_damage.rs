//! Tests of a search index that was changed or damaged behind the store's back: `verify` finds it, `rebuild` repairs it.

use skald_journal::{FindingKind, StoreError, VerifyVerdict, rebuild, verify};

use crate::indexed_notes::{Notebook, note, note_kinds};
use crate::test_stores::{StoreKind, TestStore, block_on, connect};

/// A store with three notes, and one statement that changes its index.
async fn findings_after(kind: StoreKind, statement: &str) -> (Vec<(FindingKind, String)>, Vec<u32>) {
    let place = TestStore::new(kind).await;
    let book = Notebook::new(&place.journal, "c");
    book.write([note(1, "dragon"), note(2, "dragon"), note(3, "dragon")]).await;
    match place.address.strip_prefix("sqlite:") {
        Some(path) => rusqlite::Connection::open(path).unwrap().execute_batch(statement).unwrap(),
        None => connect(&place.address).await.batch_execute(statement).await.unwrap(),
    }
    let findings = match verify(&*place.journal, &note_kinds()).await.unwrap() {
        VerifyVerdict::Sound(_) => Vec::new(),
        VerifyVerdict::Unsound { findings, .. } => {
            findings.into_iter().map(|finding| (finding.kind, finding.what)).collect()
        }
    };
    rebuild(&*place.journal, &note_kinds()).await.unwrap();
    let verdict = verify(&*place.journal, &note_kinds()).await.unwrap();
    assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{statement}: {verdict:?}");
    (findings, book.find("dragon").await)
}

const MISSING: &str = "notes \"c/2\" is missing from the search index";
const DIFFERENT: &str = "notes \"c/2\" is not in the search index as the records come to";
const ORPHANED: &str = "notes \"x\" is in the search index and follows from no record";

async fn assert_found(kind: StoreKind, cases: &[(&str, FindingKind, &str)]) {
    for (statement, finding, what) in cases {
        let (findings, found) = findings_after(kind, statement).await;
        assert_eq!(findings, [(*finding, (*what).to_owned())], "{statement}");
        assert_eq!(found, [3, 2, 1], "{statement}");
    }
}

#[test]
fn a_changed_index_of_sqlite_is_found_and_rebuilt() {
    // The first partition has the number 1.
    let place = |serial: u64| (1_u64 << 34) + serial;
    let without_row =
        format!("DELETE FROM search_rows WHERE id = 'c/2'; DELETE FROM search_words WHERE rowid = {}", place(2));
    let without_words = format!("DELETE FROM search_words WHERE rowid = {}", place(2));
    let orphan = format!(
        "INSERT INTO search_rows VALUES ('notes', 'x', 0, 'notes/gone', {0}, x'00');
        INSERT INTO search_words (rowid, name) VALUES ({0}, 'dragon')",
        place(9)
    );
    let other_class = format!(
        "UPDATE search_rows SET place = place + (1 << 32) WHERE id = 'c/2'; {without_words};
        INSERT INTO search_words (rowid, body) VALUES ({} + (1 << 32), 'dragon')",
        place(2)
    );
    let unlisted = format!("INSERT INTO search_words (rowid, body) VALUES ({}, 'dragon')", place(9));
    block_on(assert_found(
        StoreKind::Sqlite,
        &[
            (&without_row, FindingKind::RowMissing, MISSING),
            (&without_words, FindingKind::RowDiffers, DIFFERENT),
            ("UPDATE search_rows SET digest = zeroblob(32) WHERE id = 'c/2'", FindingKind::RowDiffers, DIFFERENT),
            (&other_class, FindingKind::RowDiffers, DIFFERENT),
            (&orphan, FindingKind::RowOrphaned, ORPHANED),
            (&unlisted, FindingKind::RowDiffers, "it has 1 entries that belong to no document"),
        ],
    ));
}

/// SQLite once found damage where a connection remembered the index from before another one had changed it.
#[test]
fn an_index_that_changed_since_it_was_searched_is_sound() {
    block_on(async {
        let place = TestStore::new(StoreKind::Sqlite).await;
        let book = Notebook::new(&place.journal, "c");
        for round in 0..5 {
            book.write((0..300).map(|serial| note(serial, &format!("dragon w{serial} x{round}")))).await;
            place.journal.erase_deleted_rows().await.unwrap();
            assert_eq!(book.find("w150").await, [150]);
            assert_eq!(place.journal.check_search_index().await.unwrap(), Vec::<String>::new());
        }
    });
}

/// The search index is made of the records, so that a damaged one must not stop the rest of the store.
#[test]
fn a_damaged_index_of_sqlite_stops_nothing_else() {
    block_on(async {
        let place = TestStore::new(StoreKind::Sqlite).await;
        let book = Notebook::new(&place.journal, "c");
        book.write((1..200).map(|serial| note(serial, &format!("dragon w{serial}")))).await;
        let path = place.address.strip_prefix("sqlite:").unwrap();
        let file = rusqlite::Connection::open(path).unwrap();
        file.execute_batch("UPDATE search_words_data SET block = x'ffffffff' WHERE id > 10").unwrap();
        drop(file);
        let searched = place.journal.search(book.query("dragon", crate::indexed_notes::GAME_MASTER)).await;
        assert!(matches!(&searched, Err(StoreError::Damaged(why)) if why.contains("skald rebuild")), "{searched:?}");
        let verdict = verify(&*place.journal, &note_kinds()).await.unwrap();
        assert!(matches!(verdict, VerifyVerdict::Unsound { .. }), "{verdict:?}");
        place.journal.put("kind", "key", "the rest is written".to_owned()).await.unwrap();
        rebuild(&*place.journal, &note_kinds()).await.unwrap();
        assert_eq!(book.find("w150").await, [150]);
        book.write([note(1, "owl")]).await;
        assert_eq!(book.find("owl").await, [1]);
    });
}

mod postgres {
    use super::*;

    #[test]
    fn a_changed_index_is_found_and_rebuilt() {
        let orphan =
            "INSERT INTO search_rows SELECT 'notes', 'x', 0, 'notes/gone', 'c', 9, 0, words, words_hash, runs, digest
            FROM search_rows WHERE id = 'c/2'";
        block_on(assert_found(
            StoreKind::Postgres,
            &[
                ("DELETE FROM search_rows WHERE id = 'c/2'", FindingKind::RowMissing, MISSING),
                ("UPDATE search_rows SET digest = '\\x00' WHERE id = 'c/2'", FindingKind::RowDiffers, DIFFERENT),
                ("UPDATE search_rows SET words = 'owl' WHERE id = 'c/2'", FindingKind::RowDiffers, DIFFERENT),
                ("UPDATE search_rows SET class = 1 WHERE id = 'c/2'", FindingKind::RowDiffers, DIFFERENT),
                ("UPDATE search_rows SET serial = 7 WHERE id = 'c/2'", FindingKind::RowDiffers, DIFFERENT),
                (orphan, FindingKind::RowOrphaned, ORPHANED),
            ],
        ));
    }
}
