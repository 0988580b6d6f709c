//! The journal on PostgreSQL, beside the same batches by hand on as many connections.

use std::time::Instant;

use tokio_postgres::{Client, NoTls};

use crate::raw::BODY_BYTES;
use crate::{ROUND, ROUNDS, Wanted, engine, median, row};

const INSERT: &str = "INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
    SELECT 7, stream, revision, 'counted', 0, 'local', body, hash, hash
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[]) AS t (stream, revision, body, hash)";
const CONNECTIONS: usize = 2;
const STREAMS: usize = 32;

pub(crate) async fn measure() {
    let Ok(server) = std::env::var("SKALD_TEST_POSTGRES") else {
        println!("PostgreSQL: SKALD_TEST_POSTGRES is not set");
        return;
    };
    let (mut ours, mut theirs, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let address = schema(&server, &format!("speed_{}_{round}", std::process::id())).await;
        let driven = engine::drive(store::open(&address).await.unwrap(), 256, 64, ROUND).await;
        let batch = driven.rows_per_commit();
        ours.push(driven.rows_per_second());
        batches.push(batch as f64);
        let address = schema(&server, &format!("hand_{}_{round}", std::process::id())).await;
        drop(store::open(&address).await.unwrap());
        theirs.push(by_hand(&address, batch).await);
    }
    let what = format!("PostgreSQL, 256 writers; the same batches ({:.0} rows)", median(batches));
    row(&what, median(ours), median(theirs), "rows/s", Wanted::AtLeast(0.6));
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

async fn by_hand(address: &str, batch: usize) -> f64 {
    let began = Instant::now();
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let address = address.to_owned();
            tokio::spawn(async move { insert(&connect(&address).await, number, batch.max(1), began).await })
        })
        .collect();
    let mut written = 0;
    for task in tasks {
        written += task.await.unwrap();
    }
    written as f64 / began.elapsed().as_secs_f64()
}

async fn insert(client: &Client, number: usize, batch: usize, began: Instant) -> usize {
    let statement = client.prepare(INSERT).await.unwrap();
    let (bodies, hashes) = (vec!["x".repeat(BODY_BYTES + 14); batch], vec![[7_u8; 32].to_vec(); batch]);
    let mut written = 0;
    while began.elapsed() < ROUND {
        let rows = written..written + batch;
        let streams: Vec<String> = rows.clone().map(|row| format!("counter/{number}-{}", row % STREAMS)).collect();
        let revisions: Vec<i64> = rows.map(|row| i64::try_from(row / STREAMS + 1).unwrap()).collect();
        client.execute(&statement, &[&streams, &revisions, &bodies, &hashes]).await.unwrap();
        written += batch;
    }
    written
}
