//! Tests of situations that occur with PostgreSQL only, such as commits out of order.

use std::sync::Arc;
use std::time::Duration;

use skald_journal::{Cursor, Journal, JournalFailure, StoreError, StoreHealth, Streams};
use skald_store::OpenError;

use crate::indexed_notes::{Notebook, note};
use crate::tally::{Tally, add, is_fair, overtaking_counts, remove, stream, with_key};
use crate::test_stores::{block_on, connect, create_schema, server_address, wait_until};

/// A record written by hand, in a transaction of the test's own.
const INSERT_RECORD: &str = "INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
    VALUES (1, $1, 1, 'added', 0, 'tester', '[]', '', '')";

/// The time limit of every call, and a second for a busy machine.
const CALL_TIMEOUT: Duration = Duration::from_secs(skald_domain::limits::DATABASE_WAIT_SECONDS + 1);

async fn follow_stream_names(journal: &dyn Journal, after: &mut Cursor) -> Vec<String> {
    let page = journal.follow(*after, 100).await.unwrap();
    *after = page.last().map_or(*after, |(cursor, _)| *cursor);
    page.into_iter().map(|(_, record)| record.stream.as_str().to_owned()).collect()
}

/// A cursor on the position alone loses a record here: the transaction that began first takes the later position,
/// commits first, and a follower that went on from its position would never see the other.
#[test]
fn a_follower_is_not_fooled_by_commits_out_of_order() {
    block_on(async {
        let store_address = create_schema().await;
        let journal = skald_store::open(&store_address).await.unwrap();
        let (late, early) = (connect(&store_address).await, connect(&store_address).await);
        late.batch_execute("BEGIN").await.unwrap();
        early.batch_execute("BEGIN").await.unwrap();
        early.query("SELECT pg_current_xact_id()", &[]).await.unwrap();
        late.execute(INSERT_RECORD, &[&"x/late"]).await.unwrap();
        early.execute(INSERT_RECORD, &[&"x/early"]).await.unwrap();
        early.batch_execute("COMMIT").await.unwrap();
        let by_position = early.query("SELECT stream FROM records ORDER BY position", &[]).await.unwrap();
        assert_eq!(by_position.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>(), ["x/early"]);
        let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
        // Other tests' transactions may hide it for a moment, and `late` must not.
        while seen.is_empty() {
            seen.extend(follow_stream_names(&*journal, &mut cursor).await);
        }
        assert_eq!(seen, ["x/early"]);
        assert_eq!(cursor.position, 2, "it took the later position");
        late.batch_execute("COMMIT").await.unwrap();
        while seen.len() < 2 {
            seen.extend(follow_stream_names(&*journal, &mut cursor).await);
        }
        assert_eq!(seen, ["x/early", "x/late"]);
    });
}

/// The reverse case: a record that was committed first in a later transaction stays hidden until the earlier
/// transaction ends.
#[test]
fn a_follower_waits_for_a_transaction_that_began_before() {
    block_on(async {
        let store_address = create_schema().await;
        let journal = skald_store::open(&store_address).await.unwrap();
        let (first, second) = (connect(&store_address).await, connect(&store_address).await);
        first.batch_execute("BEGIN").await.unwrap();
        first.execute(INSERT_RECORD, &[&"x/first"]).await.unwrap();
        second.execute(INSERT_RECORD, &[&"x/second"]).await.unwrap();
        let mut cursor = Cursor::default();
        assert_eq!(follow_stream_names(&*journal, &mut cursor).await, Vec::<String>::new());
        let mut wakes = journal.subscribe_appends();
        first.batch_execute("COMMIT").await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < 2 {
            tokio::time::timeout(Duration::from_secs(5), wakes.changed()).await.expect("a wake").unwrap();
            seen.extend(follow_stream_names(&*journal, &mut cursor).await);
        }
        assert_eq!(seen, ["x/first", "x/second"]);
    });
}

#[test]
fn a_lost_connection_is_unavailable_and_comes_back() {
    block_on(async {
        let address = create_schema().await;
        let name = address.rsplit_once('=').unwrap().1.to_owned();
        let journal = skald_store::open(&address).await.unwrap();
        let streams = Streams::<Tally>::new(Arc::clone(&journal));
        let one = stream("one");
        streams.execute(&one, add("a", 1)).await.map_err(|_| "failed").unwrap();
        let admin = connect(&server_address()).await;
        let mut health = journal.health();
        let mut acknowledged = 1;
        for round in 0..5 {
            terminate_connections(&admin, &name).await;
            let waited =
                tokio::time::timeout(Duration::from_secs(5), health.wait_for(|health| *health != StoreHealth::Ready));
            waited.await.expect("it is noticed").unwrap();
            let waited =
                tokio::time::timeout(Duration::from_secs(10), health.wait_for(|health| *health == StoreHealth::Ready));
            waited.await.expect("it recovers").unwrap();
            let key = format!("after {round}");
            let done = loop {
                match streams.execute(&one, with_key(add(&key, 1), &key)).await {
                    Ok(done) => break done,
                    Err(JournalFailure::Unavailable(_)) => {}
                    Err(failure) => panic!("{failure:?}"),
                }
            };
            acknowledged += 1;
            assert_eq!(done.revision, acknowledged);
        }
        assert_eq!(streams.read(&one).await.unwrap().revision(), acknowledged);
    });
}

/// Connections are cut while many write: each acknowledged command is stored exactly once, and a retry gets its answer.
#[test]
fn nothing_is_lost_or_doubled_when_connections_are_cut() {
    block_on(async {
        let address = create_schema().await;
        let name = address.rsplit_once('=').unwrap().1.to_owned();
        let journal = skald_store::open(&address).await.unwrap();
        let streams = Arc::new(Streams::<Tally>::new(Arc::clone(&journal)));
        let writers = (0..8).map(|writer| {
            let streams = Arc::clone(&streams);
            tokio::spawn(async move {
                for number in 0..40 {
                    let key = format!("{writer}-{number}");
                    loop {
                        match streams.execute(&stream("one"), with_key(add(&key, 1), &key)).await {
                            Ok(_) => break,
                            Err(JournalFailure::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
                            Err(failure) => panic!("{failure:?}"),
                        }
                    }
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        let admin = connect(&server_address()).await;
        for _ in 0..6 {
            tokio::time::sleep(Duration::from_millis(40)).await;
            terminate_connections(&admin, &name).await;
        }
        for writer in writers {
            writer.await.unwrap();
        }
        // The last cut may come after the last write, so the read may fail and is repeated.
        let kept = loop {
            match streams.read(&stream("one")).await {
                Ok(kept) => break kept,
                Err(StoreError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!((kept.revision(), kept.state.total()), (320, 320));
    });
}

/// Terminates the connections of one test, found by their application name.
async fn terminate_connections(admin: &tokio_postgres::Client, name: &str) {
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
    admin.query(kill, &[&name]).await.unwrap();
}

#[test]
fn a_newer_schema_is_refused() {
    block_on(async {
        let store_address = create_schema().await;
        drop(skald_store::open(&store_address).await.unwrap());
        connect(&store_address).await.batch_execute("INSERT INTO skald_schema (version) VALUES (999)").await.unwrap();
        let refused = skald_store::open(&store_address).await.err().unwrap();
        assert!(matches!(refused, OpenError::Newer { found: 999, known: 8, .. }), "{refused}");
    });
}

/// A schema with tokens in side rows keeps its version until they are imported as events; a new one never had any.
#[test]
fn only_an_older_schema_awaits_the_import_of_tokens() {
    block_on(async {
        let store_address = create_schema().await;
        assert!(!skald_store::open(&store_address).await.unwrap().awaits_token_import());
        connect(&store_address).await.batch_execute("UPDATE skald_schema SET version = 4").await.unwrap();
        let nodes =
            [skald_store::open(&store_address).await.unwrap(), skald_store::open(&store_address).await.unwrap()];
        for node in nodes {
            assert!(node.awaits_token_import());
            node.finish_token_import().await.unwrap();
            assert!(!node.awaits_token_import());
        }
        assert!(!skald_store::open(&store_address).await.unwrap().awaits_token_import());
    });
}

/// Without statistics the database may plan to read the whole table for one word.
#[test]
fn many_new_texts_refresh_the_statistics_of_the_search_index() {
    block_on(async {
        let address = create_schema().await;
        let journal = skald_store::open(&address).await.unwrap();
        let notebook = Notebook::new(&journal, "c");
        let admin = connect(&address).await;
        // A stream takes so many commands at once.
        for first in (0..5_500).step_by(250) {
            notebook.write((first..first + 250).map(|serial| note(serial, "A tale."))).await;
        }
        let known_rows = "SELECT reltuples FROM pg_class WHERE oid = 'search_rows'::regclass";
        wait_until("the refresh", async || admin.query_one(known_rows, &[]).await.unwrap().get::<_, f32>(0) > 4_000.0)
            .await;
    });
}

#[test]
fn nodes_that_start_at_once_make_one_schema() {
    block_on(async {
        let store_address = create_schema().await;
        let opened = futures::future::join_all((0..6).map(|_| skald_store::open(&store_address))).await;
        assert!(opened.iter().all(Result::is_ok));
    });
}

#[test]
fn what_is_not_reachable_is_named_without_its_password() {
    let refused = block_on(skald_store::open("postgres://skald:secret@127.0.0.1:1/world")).err().unwrap().to_string();
    assert!(refused.starts_with("the database \"world\" cannot be reached"), "{refused}");
    assert!(!refused.contains("secret"), "{refused}");
}

/// A temporary failure is worth another attempt; any other needs a change of the configuration.
#[test]
fn a_database_that_is_away_is_told_from_one_that_refuses() {
    let refused = |address: &str| block_on(skald_store::open(address)).err().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("postgres://skald@{}/world", silent.local_addr().unwrap());
    let began = std::time::Instant::now();
    for away in ["postgres://skald@127.0.0.1:1/world", "postgres://skald@database.invalid/world", &silent] {
        let refused = refused(away);
        assert!(matches!(refused, OpenError::Unreachable { .. }), "{refused}");
    }
    assert!(began.elapsed() < 3 * CALL_TIMEOUT, "nothing ended in time");
    let (server, path) =
        server_address().rsplit_once('/').map(|(server, path)| (server.to_owned(), path.to_owned())).unwrap();
    let stranger = server.replace("//skald@", "//stranger@");
    for (address, words) in [
        (format!("{server}/nowhere"), "does not exist (3D000)"),
        (format!("{stranger}/{path}"), "does not exist (28000)"),
        (format!("{server}/{path}?sslmode=verify-full"), "invalid peer certificate"),
    ] {
        let refused = refused(&address);
        assert!(matches!(refused, OpenError::Failed { .. }), "{refused}");
        assert!(refused.to_string().contains(words), "{refused}");
    }
}

/// Tables are locked by a transaction that nobody ends. Once each call waited for its turn, and then as long again.
#[test]
fn nobody_waits_for_a_lock_longer_than_promised() {
    block_on(async {
        let store_address = create_schema().await;
        // One node has the stream open. The other has to load it, which one caller does for all.
        let nodes =
            [skald_store::open(&store_address).await.unwrap(), skald_store::open(&store_address).await.unwrap()];
        let nodes = nodes.map(|journal| Arc::new(Streams::<Tally>::new(journal)));
        let one = stream("one");
        nodes[0].execute(&one, add("first", 1)).await.map_err(|_| "failed").unwrap();
        let forgetful = connect(&store_address).await;
        forgetful.batch_execute("BEGIN; LOCK TABLE heads, records").await.unwrap();
        let began = std::time::Instant::now();
        let calls = nodes.iter().flat_map(|node| (0..10).map(move |number| (Arc::clone(node), number)));
        let calls = calls.map(|(node, number)| {
            tokio::spawn(async move {
                let is_unavailable = if number % 2 == 0 {
                    let key = number.to_string();
                    let written = node.execute(&stream("one"), with_key(add(&key, 1), &key)).await;
                    matches!(written, Err(JournalFailure::Unavailable(_)))
                } else {
                    matches!(node.read(&stream("one")).await, Err(StoreError::Unavailable(_)))
                };
                (is_unavailable, began.elapsed())
            })
        });
        for call in calls.collect::<Vec<_>>() {
            let (is_unavailable, took) = call.await.unwrap();
            assert!(is_unavailable, "something was answered");
            assert!(took < CALL_TIMEOUT, "{took:?}");
        }
        forgetful.batch_execute("ROLLBACK").await.unwrap();
        // Retries of the failed commands are stored once.
        for number in (0..10).step_by(2) {
            let key = number.to_string();
            let sent_again = || async { nodes[1].execute(&one, with_key(add(&key, 1), &key)).await.is_ok() };
            wait_until("a retry", sent_again).await;
        }
        let kept = nodes[0].read(&one).await.unwrap();
        assert_eq!((kept.revision(), kept.state.total()), (6, 6));
    });
}

#[test]
fn other_nodes_are_woken_at_once() {
    block_on(async {
        let store_address = create_schema().await;
        let (here, there) =
            (skald_store::open(&store_address).await.unwrap(), skald_store::open(&store_address).await.unwrap());
        let mut wakes = here.subscribe_appends();
        // The first wake-up comes when the node begins to listen.
        wakes.wait_for(|wakes| *wakes > 0).await.unwrap();
        let writes = Streams::<Tally>::new(there);
        let (mut stored_after, mut heard_after) = (Vec::new(), Vec::new());
        for number in 1..=15_u64 {
            wakes.borrow_and_update();
            let began = std::time::Instant::now();
            writes.execute(&stream("one"), add(&number.to_string(), 1)).await.map_err(|_| "failed").unwrap();
            stored_after.push(began.elapsed());
            let began = std::time::Instant::now();
            tokio::time::timeout(Duration::from_secs(5), wakes.changed()).await.expect("a wake").unwrap();
            heard_after.push(began.elapsed());
        }
        stored_after.sort();
        heard_after.sort();
        // A node without notifications would wake after a second or more.
        assert!(
            heard_after[7] < 50 * stored_after[7],
            "a write takes {:?}, the other node hears after {:?}",
            stored_after[7],
            heard_after[7]
        );
    });
}

/// The decisions of a slow node are outdated when they arrive. It must not lose every race to a busy node.
#[test]
fn a_busy_node_does_not_starve_another() {
    block_on(async {
        let store_address = create_schema().await;
        let busy = Arc::new(Streams::<Tally>::new(skald_store::open(&store_address).await.unwrap()));
        let tasks = (0..16).map(|task| {
            let busy = Arc::clone(&busy);
            tokio::spawn(async move {
                for number in 0_u64.. {
                    // Names are added and removed, so that the state stays small.
                    let name = format!("{task}-{}", number / 2);
                    let submission = if number % 2 == 0 { add(&name, 1) } else { remove(&name) };
                    busy.execute(&stream("one"), submission).await.map_err(|_| "failed").unwrap();
                }
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let streams = Streams::<Tally>::new(skald_store::open(&store_address).await.unwrap());
        wait_until("the busy one", || async { streams.read(&stream("one")).await.unwrap().revision() > 100 }).await;
        let passed = overtaking_counts(&streams).await;
        for task in tasks {
            task.abort();
        }
        assert!(is_fair(&passed), "{passed:?}");
    });
}

/// Statements that every node runs several times a second must not scan all records, not even on a database that has no
/// statistics yet.
#[test]
fn followers_need_no_statistics() {
    let statements = [
        ("pending", "pending", include_str!("../../sql/postgres/has_hidden_records.sql")),
        ("end_of", "end_of", include_str!("../../sql/postgres/end_cursor.sql")),
        ("follow (text, bigint, bigint)", "follow ('1', 1, 100)", include_str!("../../sql/postgres/follow.sql")),
    ];
    block_on(async {
        let store_address = create_schema().await;
        let journal = skald_store::open(&store_address).await.unwrap();
        let client = connect(&store_address).await;
        client.batch_execute("ALTER TABLE records SET (autovacuum_enabled = off)").await.unwrap();
        let many = "INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
            SELECT 1, 'x/' || number, 1, 'added', 0, 'tester', '[]', '', '' FROM generate_series(1, 20000) number";
        client.batch_execute(many).await.unwrap();
        let analyzed = "SELECT reltuples >= 0 FROM pg_class WHERE oid = 'records'::regclass";
        assert!(!client.query_one(analyzed, &[]).await.unwrap().get::<_, bool>(0), "there are statistics");
        for (declared, called, statement) in statements {
            client.batch_execute(&format!("PREPARE {declared} AS {statement}")).await.unwrap();
            for mode in ["force_generic_plan", "force_custom_plan"] {
                client.batch_execute(&format!("SET plan_cache_mode = {mode}")).await.unwrap();
                let plan = client.query(&format!("EXPLAIN EXECUTE {called}"), &[]).await.unwrap();
                let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
                let plan = plan.join("\n");
                assert!(plan.contains("records_in_order") && !plan.contains("Seq Scan"), "{statement}:\n{plan}");
            }
        }
        // The answer is correct too: only a running transaction hides a record.
        let running = crate::test_stores::connect(&store_address).await;
        running.batch_execute("BEGIN; SELECT pg_current_xact_id()").await.unwrap();
        client.execute(INSERT_RECORD, &[&"x/hidden"]).await.unwrap();
        let pending = client.query_one("EXECUTE pending", &[]).await.unwrap();
        assert!(pending.get::<_, bool>(0), "the last record is hidden");
        running.batch_execute("COMMIT").await.unwrap();
        let seen = || async { journal.end_cursor().await.unwrap().position > 20_000 };
        wait_until("the hidden record", seen).await;
        assert!(!client.query_one("EXECUTE pending", &[]).await.unwrap().get::<_, bool>(0), "nothing is hidden");
    });
}
