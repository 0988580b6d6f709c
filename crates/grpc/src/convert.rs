//! Converts between gRPC messages and the JSON of operations, and pages lists.

use prost_types::{ListValue, Struct, Timestamp, value::Kind};
use serde_json::{Map, Value, json};
use skald_app::{Code, Fault, truncate_for_message};
use tonic::{Request, Status};

use crate::fault::into_status;
use crate::service_context::{CallContext, ServiceContext};

/// Rows of one page of a list in the typed services, unless fewer are asked for.
const PAGE_SIZE: i32 = 10;
/// Rows of a page when a list is searched for one row.
const SEARCH_PAGE_SIZE: usize = skald_app::limits::PAGE_MAX;

/// The JSON of an answer, read field by field. A missing field reads as an empty value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerFields<'a>(pub &'a Value);

impl<'a> AnswerFields<'a> {
    pub(crate) fn field(self, name: &str) -> AnswerFields<'a> {
        AnswerFields(self.0.get(name).unwrap_or(&Value::Null))
    }

    pub(crate) fn text(self, name: &str) -> String {
        self.field(name).0.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn flag(self, name: &str) -> bool {
        self.field(name).0.as_bool().unwrap_or_default()
    }

    pub(crate) fn rows(self, name: &str) -> impl Iterator<Item = AnswerFields<'a>> {
        self.field(name).0.as_array().into_iter().flatten().map(AnswerFields)
    }

    /// An integer field. A fault if it does not fit the 32 bits of the messages.
    pub(crate) fn number(self, name: &str) -> Result<i32, Fault> {
        self.field(name).to_i32(name)
    }

    pub(crate) fn to_i32(self, name: &str) -> Result<i32, Fault> {
        let number = self.0.as_i64().unwrap_or_default();
        i32::try_from(number).map_err(|_| {
            let fault = Fault::new(Code::InvalidParams, format!("{name} is {number}, which these messages cannot say"));
            fault.hint("use smaller numbers, or skald.v1.Gateway, which knows no bounds of 32 bits")
        })
    }

    pub(crate) fn optional_number(self, name: &str) -> Result<Option<i32>, Fault> {
        if self.field(name).0.is_null() { Ok(None) } else { self.number(name).map(Some) }
    }

    pub(crate) fn timestamp(self, name: &str) -> Option<Timestamp> {
        let moment: jiff::Timestamp = self.field(name).0.as_str()?.parse().ok()?;
        Some(Timestamp { seconds: moment.as_second(), nanos: moment.subsec_nanosecond() })
    }

    /// An enum field as its protobuf number; 0 if the name is unknown.
    pub(crate) fn enum_number<E: Into<i32>>(self, name: &str, read: fn(&str) -> Option<E>, prefix: &str) -> i32 {
        let word = self.field(name).0.as_str().unwrap_or_default();
        read(&format!("{prefix}{word}")).map(Into::into).unwrap_or_default()
    }
}

/// The name of a protobuf enum value without its prefix. `None` for 0; an unknown number as text, so that the
/// operation's refusal quotes it.
pub(crate) fn enum_name<E: TryFrom<i32>>(number: i32, name: fn(&E) -> &'static str, prefix: &str) -> Option<String> {
    match E::try_from(number) {
        _ if number == 0 => None,
        Ok(known) => Some(name(&known).trim_start_matches(prefix).to_owned()),
        Err(_) => Some(number.to_string()),
    }
}

/// The input of an operation, without the fields that are `None`.
pub(crate) fn input_object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

/// A JSON object as a protobuf `Struct`.
pub(crate) fn to_struct(fields: &Value) -> Struct {
    let fields = fields.as_object().into_iter().flatten();
    Struct { fields: fields.map(|(name, value)| (name.clone(), to_protobuf_value(value))).collect() }
}

fn to_protobuf_value(value: &Value) -> prost_types::Value {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(flag) => Kind::BoolValue(*flag),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(values) => Kind::ListValue(ListValue { values: values.iter().map(to_protobuf_value).collect() }),
        Value::Object(_) => Kind::StructValue(to_struct(value)),
    };
    prost_types::Value { kind: Some(kind) }
}

/// A page of a list as a request asks for it.
pub(crate) struct PageRequest {
    /// The list, as a `view` of `campaign_read`.
    pub view: &'static str,
    pub campaign_id: Option<String>,
    pub size: i32,
    pub token: String,
}

impl ServiceContext {
    /// Calls an operation for a typed service.
    pub(crate) async fn call_typed<T>(
        &self,
        request: Request<T>,
        operation: &str,
        input: impl FnOnce(T) -> Value,
    ) -> Result<Value, Status> {
        let call_context = CallContext::from_request(&request)?;
        let input = input(request.into_inner());
        self.call(&call_context, operation, input).await.map_err(into_status)
    }

    /// Reads a page of a list: the rows are in the field with the name of the view, beside `next_cursor`.
    pub(crate) async fn read_page<T>(
        &self,
        request: Request<T>,
        page: impl FnOnce(T) -> PageRequest,
    ) -> Result<Value, Status> {
        self.call_typed(request, "campaign_read", |message| {
            let PageRequest { view, campaign_id, size, token } = page(message);
            let limit = if (1..PAGE_SIZE).contains(&size) { size } else { PAGE_SIZE };
            let cursor = (!token.is_empty()).then(|| json!(token));
            let campaign_id = campaign_id.map(Value::from);
            input_object([
                ("view", Some(json!(view))),
                ("campaign_id", campaign_id),
                ("limit", Some(json!(limit))),
                ("cursor", cursor),
            ])
        })
        .await
    }

    /// Finds a row of a campaign's list by its id.
    pub(crate) async fn find_row(
        &self,
        call_context: &CallContext,
        thing: &str,
        campaign_id: &str,
        id: &str,
    ) -> Result<Value, Fault> {
        let (view, field, id) = (format!("{thing}s"), format!("{thing}_id"), id.trim());
        if id.is_empty() {
            let fault = Fault::new(Code::InvalidParams, format!("{field} is required, it is empty"));
            return Err(fault.with_path(format!("/{field}")).hint(format!("send {field}")));
        }
        let mut cursor = Value::Null;
        loop {
            let fields = [
                ("view", Some(json!(view))),
                ("campaign_id", Some(json!(campaign_id))),
                ("limit", Some(json!(SEARCH_PAGE_SIZE))),
                ("cursor", (!cursor.is_null()).then_some(cursor)),
            ];
            let mut page = self.call(call_context, "campaign_read", input_object(fields)).await?;
            let rows = page.get_mut(&view).and_then(Value::as_array_mut);
            if let Some(row) = rows.and_then(|rows| rows.iter_mut().find(|row| row["id"] == id)) {
                return Ok(row.take());
            }
            cursor = page.get_mut("next_cursor").map(Value::take).unwrap_or_default();
            if cursor.is_null() {
                let message = format!(
                    "there is no {thing} {:?} in {}",
                    truncate_for_message(id),
                    truncate_for_message(campaign_id.trim())
                );
                let fault = Fault::new(Code::NotFound, message).with_path(format!("/{field}")).value(&id.into());
                return Err(fault.hint(format!("the list of {view} has those that there are")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_past_the_messages_are_refused_by_name() {
        let answer = json!({"total": 2_147_483_660_i64, "hope": 12, "difficulty": null});
        let answer = AnswerFields(&answer);
        assert_eq!(answer.number("hope").ok(), Some(12));
        assert_eq!(answer.optional_number("difficulty").ok(), Some(None));
        let fault = answer.number("total").unwrap_err();
        assert_eq!(fault.body().message, "total is 2147483660, which these messages cannot say");
    }

    #[test]
    fn json_becomes_a_structure_and_moments_seconds() {
        let fields = json!({"a": null, "b": true, "c": 1.5, "d": "x", "e": [1, {"f": 2}]});
        let structure = to_struct(&fields);
        assert_eq!(structure.fields.len(), 5);
        assert_eq!(structure.fields["c"].kind, Some(Kind::NumberValue(1.5)));
        let moment = json!({"at": "2025-01-15T10:30:00Z"});
        assert_eq!(AnswerFields(&moment).timestamp("at"), Some(Timestamp { seconds: 1_736_937_000, nanos: 0 }));
        assert_eq!(AnswerFields(&moment).timestamp("never"), None);
    }
}
