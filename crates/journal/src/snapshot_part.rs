//! `SnapshotPart`: splits a state into snapshot parts that are read in parallel, and joins them.

/// How a state is written into parts that can be read apart, and a part that was read.
pub trait SnapshotPart<S>: Sized + Send + 'static {
    /// At least one part.
    fn write(state: &S) -> Result<Vec<String>, serde_json::Error>;

    /// Reads one part. Several are read at once.
    fn read(text: &str, is_first: bool) -> Result<Self, serde_json::Error>;

    /// The state that these are all parts of, in their order. `None` if they do not fit together.
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
