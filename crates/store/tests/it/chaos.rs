//! Chaos test: two nodes on one store with injected failures. Each command still happens exactly once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skald_journal::{Journal, JournalFailure, Limits, StreamKinds, Streams, VerifyVerdict, verify};

use crate::faulty_journal::{FaultyJournal, InjectedFailure};
use crate::tally::{Tally, add, stream, with_key};
use crate::test_stores::{TestStore, on_every_store};

on_every_store! {
    whatever_fails_each_command_happens_once,
}

const CLIENTS: u64 = 6;
const COMMANDS: u64 = 15;
const STREAMS: u64 = 2;

/// A pseudo-random generator with a seed.
struct SeededRandom(u64);

impl SeededRandom {
    fn next_below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

async fn whatever_fails_each_command_happens_once(place: TestStore) {
    let nodes = [FaultyJournal::new(Arc::clone(&place.journal)), FaultyJournal::new(place.open_again().await)];
    let limits = Limits { mailbox: 4, records_per_snapshot: 5, idle: Duration::from_millis(3), ..Limits::default() };
    let streams = nodes.clone().map(|node| Arc::new(Streams::<Tally>::with_limits(node as Arc<dyn Journal>, limits)));
    let is_over = Arc::new(AtomicBool::new(false));
    let trouble = tokio::spawn(inject_failures(nodes, Arc::clone(&is_over)));
    let clients = (0..CLIENTS).map(|client| {
        let streams = streams.clone();
        tokio::spawn(async move {
            let mut chance = SeededRandom(client);
            for number in 0..COMMANDS {
                let name = format!("{client}-{number}");
                let stream = stream(&format!("s{}", chance.next_below(STREAMS)));
                // Each attempt goes to whichever node answers, as behind a load balancer.
                loop {
                    let node = &streams[usize::try_from(chance.next_below(2)).unwrap()];
                    match node.execute(&stream, with_key(add(&name, 1), &name)).await {
                        Ok(_) => break,
                        Err(JournalFailure::Unavailable(_) | JournalFailure::RateLimited) => {
                            tokio::time::sleep(Duration::from_millis(chance.next_below(4))).await;
                        }
                        Err(failure) => panic!("{failure:?}"),
                    }
                }
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    is_over.store(true, Ordering::SeqCst);
    trouble.await.unwrap();
    let (mut names, mut revisions) = (BTreeSet::new(), 0);
    for number in 0..STREAMS {
        let kept = streams[0].read(&stream(&format!("s{number}"))).await.unwrap();
        revisions += kept.revision();
        names.extend(kept.state.amounts.keys().cloned());
    }
    assert_eq!((names.len() as u64, revisions), (CLIENTS * COMMANDS, CLIENTS * COMMANDS));
    let verdict = verify(&*place.journal, &StreamKinds::default().with_kind::<Tally>()).await.unwrap();
    assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
}

/// Injects random failures, and sometimes none, until the test is over.
async fn inject_failures(nodes: [Arc<FaultyJournal>; 2], is_over: Arc<AtomicBool>) {
    let mut chance = SeededRandom(77);
    while !is_over.load(Ordering::SeqCst) {
        for node in &nodes {
            let troubles = [
                InjectedFailure::None,
                InjectedFailure::None,
                InjectedFailure::None,
                InjectedFailure::AnswerLost,
                InjectedFailure::AppendLost,
                InjectedFailure::Down,
            ];
            node.inject(troubles[usize::try_from(chance.next_below(6)).unwrap()]);
        }
        tokio::time::sleep(Duration::from_millis(1 + chance.next_below(8))).await;
    }
    for node in nodes {
        node.inject(InjectedFailure::None);
    }
}
