//! A strict SSE parser for tests: panics on anything that a strict client would refuse.

use serde_json::Value;

/// One frame of an event stream, as it was sent. A block of comments alone is no frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    pub event: Option<String>,
    pub id: Option<String>,
    pub data: Option<String>,
    pub retry: Option<u64>,
}

impl Frame {
    /// Parses one frame, without the empty line that ends it; `None` if it has only comments.
    ///
    /// # Panics
    /// If a line is neither a comment nor a known field, or a field other than `data` appears twice.
    pub fn parse(block: &str) -> Option<Self> {
        let mut frame = Self::default();
        for line in block.lines().filter(|line| !line.starts_with(':')) {
            let (name, value) = line.split_once(':').unwrap_or_else(|| panic!("a line without a colon: {line:?}"));
            let value = value.strip_prefix(' ').unwrap_or(value);
            let is_new = match name {
                "event" => frame.event.replace(value.to_owned()).is_none(),
                "id" => frame.id.replace(value.to_owned()).is_none(),
                "retry" => frame.retry.replace(value.parse().expect("retry is a number")).is_none(),
                "data" => {
                    let data = frame.data.take().map(|data| data + "\n").unwrap_or_default();
                    frame.data = Some(data + value);
                    true
                }
                _ => panic!("an unknown field: {line:?}"),
            };
            assert!(is_new, "a field stands twice: {block:?}");
        }
        (frame != Self::default()).then_some(frame)
    }

    /// The JSON-RPC message in this frame, or `None` if its data is empty.
    ///
    /// # Panics
    /// If the data is missing, or is not a JSON-RPC message.
    pub fn message(&self) -> Option<Value> {
        let data = self.data.as_deref().unwrap_or_else(|| panic!("a frame without data: {self:?}"));
        if data.is_empty() {
            return None;
        }
        let message: Value = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error} in {data:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{data}");
        Some(message)
    }
}
