//! `SnapshotPart`: splits a state into snapshot parts that are read in parallel, and joins them.

/// A parsed part of a snapshot, and how a state is split into parts that can be parsed independently.
pub trait SnapshotPart<S>: Sized + Send + 'static {
    /// Serialises a state into at least one part.
    fn write(state: &S) -> Result<Vec<String>, serde_json::Error>;

    /// Parses one part. Several are parsed in parallel.
    fn read(text: &str, is_first: bool) -> Result<Self, serde_json::Error>;

    /// Joins all parts of a state, in order. `None` if they do not fit together.
    fn join(parts: Vec<Self>) -> Option<S>;
}

/// A state in one part.
pub struct WholeSnapshot<S>(S);

impl<S: serde::Serialize + serde::de::DeserializeOwned + Send + 'static> SnapshotPart<S> for WholeSnapshot<S> {
    fn write(state: &S) -> Result<Vec<String>, serde_json::Error> {
        Ok(vec![serde_json::to_string(state)?])
    }

    fn read(text: &str, _is_first: bool) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    fn join(parts: Vec<Self>) -> Option<S> {
        let [Self(state)] = <[Self; 1]>::try_from(parts).ok()?;
        Some(state)
    }
}
