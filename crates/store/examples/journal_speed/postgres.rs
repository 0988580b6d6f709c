//! Benchmark of the journal on PostgreSQL against the same batches written by hand. Those are built, hashed and written
//! on as many connections.

use std::collections::HashMap;
use std::time::Instant;

use jiff::Timestamp;
use skald_journal::{Head, Record, StreamName};
use tokio_postgres::{Client, NoTls};

use crate::{ROUND, ROUNDS, RatioTarget, journal_load, median, row};

const BATCHES: &str = "SELECT transaction::text, stream FROM records ORDER BY transaction, position";
const INSERT: &str = "WITH moved AS (
        INSERT INTO heads (stream, shard, revision, previous, hash)
        SELECT * FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bytea[], $5::bytea[])
        ON CONFLICT (stream) DO UPDATE
        SET revision = excluded.revision, previous = excluded.previous, hash = excluded.hash)
    INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
    SELECT * FROM unnest($6::integer[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::text[], $12::text[],
        $13::bytea[], $14::bytea[])";
const CONNECTIONS: usize = 2;

pub(crate) async fn measure() {
    let Ok(server) = std::env::var("SKALD_TEST_POSTGRES") else {
        println!("PostgreSQL: SKALD_TEST_POSTGRES is not set");
        return;
    };
    let (mut ours, mut theirs, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let address = schema(&server, &format!("speed_{}_{round}", std::process::id())).await;
        let driven = journal_load::drive(skald_store::open(&address).await.unwrap(), 256, 64, ROUND).await;
        ours.push(driven.rows_per_second());
        let written = batches_of(&connect(&address).await).await;
        let rows: usize = written.iter().map(Vec::len).sum();
        batches.push(rows as f64 / written.len() as f64);
        let address = schema(&server, &format!("hand_{}_{round}", std::process::id())).await;
        drop(skald_store::open(&address).await.unwrap());
        theirs.push(rows as f64 / by_hand(&address, written).await);
    }
    let what = format!("PostgreSQL, 256 writers; the same batches ({:.0} rows)", median(batches));
    row(&what, ours, theirs, "rows/s", RatioTarget::AtLeast(0.6));
}

async fn connect(address: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn schema(server: &str, name: &str) -> String {
    let sql = format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}; CHECKPOINT");
    connect(server).await.batch_execute(&sql).await.unwrap();
    format!("{server}?options=-csearch_path%3D{name}")
}

/// The streams of each record, one list for each commit.
async fn batches_of(client: &Client) -> Vec<Vec<StreamName>> {
    let rows = client.query(BATCHES, &[]).await.unwrap();
    let batches = rows.chunk_by(|one, next| one.get::<_, &str>(0) == next.get::<_, &str>(0));
    let stream = |row: &tokio_postgres::Row| {
        let (noun, id) = row.get::<_, &str>(1).split_once('/').unwrap();
        StreamName::new(noun, id)
    };
    batches.map(|batch| batch.iter().map(stream).collect()).collect()
}

/// Seconds that it takes to build and write all of them.
async fn by_hand(address: &str, batches: Vec<Vec<StreamName>>) -> f64 {
    let mut shares: Vec<Vec<Vec<StreamName>>> = vec![Vec::new(); CONNECTIONS];
    for batch in batches {
        shares[usize::from(batch[0].shard()) % CONNECTIONS].push(batch);
    }
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(connect(address).await);
    }
    let began = Instant::now();
    let tasks: Vec<_> =
        clients.into_iter().zip(shares).map(|(client, share)| tokio::spawn(write(client, share))).collect();
    for task in tasks {
        task.await.unwrap();
    }
    began.elapsed().as_secs_f64()
}

async fn write(client: Client, batches: Vec<Vec<StreamName>>) {
    let statement = client.prepare(INSERT).await.unwrap();
    let mut heads: HashMap<StreamName, Head> = HashMap::new();
    for batch in batches {
        let (mut expected, mut records) = (HashMap::new(), Vec::with_capacity(batch.len()));
        for stream in batch {
            let head = heads.entry(stream.clone()).or_default();
            expected.entry(stream.clone()).or_insert(*head);
            let record = Record::next(&stream, *head, "counted", Timestamp::UNIX_EPOCH, "local", journal_load::body());
            *head = record.head();
            records.push(record);
        }
        insert(&client, &statement, &expected, &heads, &records).await;
    }
}

async fn insert(
    client: &Client,
    statement: &tokio_postgres::Statement,
    expected: &HashMap<StreamName, Head>,
    heads: &HashMap<StreamName, Head>,
    records: &[Record],
) {
    fn each<'a, T, U>(items: &'a [T], of: impl Fn(&'a T) -> U) -> Vec<U> {
        items.iter().map(of).collect()
    }
    let number = |revision: u64| i64::try_from(revision).unwrap();
    let mut moved: Vec<(&StreamName, &Head, &Head)> =
        expected.iter().map(|(stream, before)| (stream, before, &heads[stream])).collect();
    moved.sort_by_key(|(stream, ..)| stream.as_str());
    client
        .execute(
            statement,
            &[
                &each(&moved, |(stream, ..)| stream.as_str()),
                &each(&moved, |(stream, ..)| i32::from(stream.shard())),
                &each(&moved, |(_, _, after)| number(after.revision)),
                &each(&moved, |(_, before, _)| &before.hash[..]),
                &each(&moved, |(_, _, after)| &after.hash[..]),
                &each(records, |record| i32::from(record.stream.shard())),
                &each(records, |record| record.stream.as_str()),
                &each(records, |record| number(record.revision)),
                &each(records, |record| record.kind.as_str()),
                &each(records, |record| record.at.as_microsecond()),
                &each(records, |record| record.by.as_str()),
                &each(records, |record| record.body.as_str()),
                &each(records, |record| &record.previous[..]),
                &each(records, |record| &record.hash[..]),
            ],
        )
        .await
        .unwrap();
}
