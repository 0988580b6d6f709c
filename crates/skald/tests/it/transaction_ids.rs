//! Tests that nodes follow the journal when PostgreSQL's transaction ids gain a digit. A node is stopped meanwhile, on
//! a database that is young enough to cross each border.

mod postgres {
    use serde_json::json;
    use skald_journal::Cursor;

    use crate::program_under_test::{Surface, World};
    use crate::rest_client::RestClient;
    use crate::test_stores::required_env;

    const BORDERS: [u64; 3] = [1_000, 10_000, 100_000];
    /// The first change is written this far before a border. A change takes two ids: one for its records, one to
    /// notify.
    const BEFORE: u64 = 20;
    /// More records than there are in this test.
    const ALL: usize = 1_000;

    /// The ids were once ordered as text, in which 10001 comes before 9975. A node that slept across a border announced
    /// only the later change, and a node that started then began thousands of records before the end.
    #[test]
    fn changes_on_both_sides_of_a_border_are_told_in_order() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let database = runtime.block_on(Database::connect());
        let world = World::on_new_postgres();
        let (writing, listening) = (world.serve(&[]), world.serve(&[]));
        let mut rest = RestClient::new(writing.address);
        let campaigns = ["before", "after"].map(|name| rest.open_campaign(name));
        let uris = campaigns.each_ref().map(|campaign_id| format!("campaign://{campaign_id}/events"));
        let mut news = listening.client(Surface::Stateless).watch(&uris.each_ref().map(String::as_str));
        // Skip the notifications that come right after subscribing.
        while news.has_notification() {}
        let mut note =
            |turn: usize| drop(rest.call("session_note", &json!({"campaign_id": campaigns[turn], "text": "x"})));
        for border in BORDERS {
            runtime.block_on(database.advance_to(border - BEFORE));
            listening.signal("STOP");
            note(0);
            let id = runtime.block_on(database.next_id());
            assert!(id < border, "the first change was not written before {border}");
            runtime.block_on(database.advance_to(border));
            note(1);
            listening.signal("CONT");
            assert_eq!([news.next_subject(), news.next_subject()], uris, "what was told of both sides of {border}");
            runtime.block_on(check_end(&world));
        }
    }

    /// Asserts that a node that starts now begins after the last record.
    async fn check_end(world: &World) {
        let journal = skald_store::open(world.store()).await.expect("the store");
        let records = journal.follow(Cursor::default(), ALL).await.expect("records");
        let places: Vec<Cursor> = records.into_iter().map(|(place, _)| place).collect();
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(journal.end_cursor().await.expect("the end"), *places.last().expect("a record"));
    }

    /// The database that only this test uses.
    struct Database(tokio_postgres::Client);

    impl Database {
        async fn connect() -> Self {
            let connected =
                tokio_postgres::connect(&required_env("SKALD_TEST_NEW_POSTGRES"), tokio_postgres::NoTls).await;
            let (client, connection) = connected.expect("PostgreSQL answers");
            tokio::spawn(connection);
            let database = Self(client);
            let id = database.next_id().await;
            assert!(id < BORDERS[0] - 2 * BEFORE, "its transaction ids are at {id} already; start a new one");
            database
        }

        async fn next_id(&self) -> u64 {
            let row = self.0.query_one("SELECT pg_current_xact_id()::text", &[]).await.expect("an id");
            row.get::<_, &str>(0).parse().expect("a number")
        }

        /// Uses up transaction ids until this one.
        async fn advance_to(&self, id: u64) {
            let block = format!("DO $$ BEGIN WHILE pg_current_xact_id() < '{id}'::xid8 LOOP COMMIT; END LOOP; END $$");
            self.0.batch_execute(&block).await.expect("ids are used up");
        }
    }
}
