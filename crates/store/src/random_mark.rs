//! Random numbers that identify processes, nodes and snapshots.

/// A number that no other process, node or snapshot has.
pub(crate) fn random_mark() -> u64 {
    getrandom::u64().expect("the operating system gives randomness")
}
