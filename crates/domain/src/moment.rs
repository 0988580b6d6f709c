//! `Moment`, a timestamp as clients read it: RFC 3339, UTC, whole seconds.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Truncated to seconds on creation rather than on output, so that a parsed moment equals the one that was written.
/// The journal records every event with full precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Timestamp);

impl Moment {
    pub fn timestamp(self) -> Timestamp {
        self.0
    }
}

impl From<Timestamp> for Moment {
    fn from(timestamp: Timestamp) -> Self {
        Self(Timestamp::from_second(timestamp.as_second()).unwrap_or(timestamp))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Timestamp::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for Moment {
    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    #[test]
    fn a_moment_is_written_in_whole_seconds_of_utc() {
        let moment = |text: &str| Moment::from(text.parse::<Timestamp>().unwrap());
        assert_eq!(to_value(moment("2025-01-15T10:30:00.987654321Z")).unwrap(), json!("2025-01-15T10:30:00Z"));
        assert_eq!(to_value(moment("2025-01-15T12:30:00+02:00")).unwrap(), json!("2025-01-15T10:30:00Z"));
        let read: Moment = from_value(json!("2025-01-15T10:30:00.5Z")).unwrap();
        assert_eq!(read, moment("2025-01-15T10:30:00Z"));
        assert_eq!(read.to_string(), "2025-01-15T10:30:00Z");
    }
}
