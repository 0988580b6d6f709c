//! Random numbers that tell processes, nodes and snapshots apart.

/// A number that no other process, node or snapshot has.
pub(crate) fn random_mark() -> u64 {
    getrandom::u64().expect("the operating system gives randomness")
}
