//! Tests of the audit log of every store.

use jiff::Timestamp;
use skald_journal::{AuditFilter, AuditRow};

use crate::test_stores::{TestStore, on_every_store};

on_every_store! {
    rows_are_numbered_and_read_in_order,
    rows_are_found_by_each_field,
    rows_are_deleted_by_age_and_numbers_are_not_given_again,
}

fn row(second: i64, operation: &str, principal: &str) -> AuditRow {
    AuditRow {
        number: 0,
        at: Timestamp::from_microsecond(second * 1_000_000 + 7).unwrap(),
        request_id: format!("req_{second}"),
        surface: "mcp".to_owned(),
        operation: operation.to_owned(),
        principal: principal.to_owned(),
        campaign_id: if principal == "ana" { "camp_1".to_owned() } else { String::new() },
        outcome: if second % 2 == 0 { "ok".to_owned() } else { "FORBIDDEN".to_owned() },
        duration_us: 1_234,
    }
}

fn seconds(rows: &[AuditRow]) -> Vec<i64> {
    rows.iter().map(|row| row.at.as_second()).collect()
}

async fn rows_are_numbered_and_read_in_order(store: TestStore) {
    let journal = &store.journal;
    journal.append_audit(Vec::new()).await.unwrap();
    journal.append_audit((1..=3).map(|second| row(second, "roll", "ana")).collect()).await.unwrap();
    journal.append_audit(vec![row(4, "odds", "bo")]).await.unwrap();
    let all = store.open_again().await.audit_after(&AuditFilter::default(), 0, 10).await.unwrap();
    assert_eq!(seconds(&all), [1, 2, 3, 4]);
    assert!(all.windows(2).all(|two| two[0].number < two[1].number), "{all:?}");
    assert_eq!(all[0], AuditRow { number: all[0].number, ..row(1, "roll", "ana") });
    let page = journal.audit_after(&AuditFilter::default(), all[0].number, 2).await.unwrap();
    assert_eq!(seconds(&page), [2, 3]);
    assert_eq!(seconds(&journal.audit_latest(&AuditFilter::default(), 2).await.unwrap()), [3, 4]);
}

async fn rows_are_found_by_each_field(store: TestStore) {
    let journal = &store.journal;
    let rows = vec![row(1, "roll", "ana"), row(2, "roll", "bo"), row(3, "odds", "ana"), row(4, "odds", "bo")];
    journal.append_audit(rows).await.unwrap();
    let (text, at) = (|text: &str| Some(text.to_owned()), |second| Timestamp::from_second(second).ok());
    let filters = [
        (AuditFilter { principal: text("ana"), ..AuditFilter::default() }, vec![1, 3]),
        (AuditFilter { campaign_id: text("camp_1"), ..AuditFilter::default() }, vec![1, 3]),
        (AuditFilter { operation: text("odds"), ..AuditFilter::default() }, vec![3, 4]),
        (AuditFilter { outcome: text("FORBIDDEN"), ..AuditFilter::default() }, vec![1, 3]),
        (AuditFilter { since: at(2), until: at(4), ..AuditFilter::default() }, vec![2, 3]),
        (AuditFilter { principal: text("' OR 1=1 --"), ..AuditFilter::default() }, vec![]),
    ];
    for (filter, expected) in filters {
        assert_eq!(seconds(&journal.audit_after(&filter, 0, 10).await.unwrap()), expected, "{filter:?}");
        assert_eq!(seconds(&journal.audit_latest(&filter, 10).await.unwrap()), expected, "{filter:?}");
    }
}

async fn rows_are_deleted_by_age_and_numbers_are_not_given_again(store: TestStore) {
    let journal = &store.journal;
    journal.append_audit((1..=3).map(|second| row(second, "roll", "ana")).collect()).await.unwrap();
    let last = journal.audit_latest(&AuditFilter::default(), 1).await.unwrap()[0].number;
    journal.delete_audit_before(Timestamp::from_second(3).unwrap()).await.unwrap();
    assert_eq!(seconds(&journal.audit_after(&AuditFilter::default(), 0, 10).await.unwrap()), [3]);
    journal.delete_audit_before(Timestamp::from_second(9).unwrap()).await.unwrap();
    journal.append_audit(vec![row(9, "roll", "ana")]).await.unwrap();
    assert!(journal.audit_latest(&AuditFilter::default(), 1).await.unwrap()[0].number > last);
}
