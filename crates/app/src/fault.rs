//! The error table: codes, and the `Fault` that every surface shows. Each code has a class, and a surface maps the
//! class alone.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::truncate_for_message;

/// What kind of failure it is; each surface has one exhaustive match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Invalid,
    Unauthenticated,
    Denied,
    NotFound,
    Refused,
    Conflict,
    Limited,
    TooLarge,
    Unavailable,
    Internal,
}

impl Class {
    /// The class as gRPC names it; every error carries it as `status`.
    pub fn status(self) -> &'static str {
        match self {
            Self::Invalid => "InvalidArgument",
            Self::Unauthenticated => "Unauthenticated",
            Self::Denied => "PermissionDenied",
            Self::NotFound => "NotFound",
            Self::Refused => "FailedPrecondition",
            Self::Conflict => "Aborted",
            Self::Limited | Self::TooLarge => "ResourceExhausted",
            Self::Unavailable => "Unavailable",
            Self::Internal => "Internal",
        }
    }

    /// The status of a response over HTTP, on every surface that has no statuses of its own.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            Self::Denied => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Refused => 422,
            Self::Limited => 429,
            Self::Internal => 500,
            Self::Unavailable => 503,
        }
    }
}

/// One row of the error table.
#[derive(Debug, Clone, Copy)]
pub struct ErrorRow {
    pub code: Code,
    pub name: &'static str,
    pub class: Class,
    pub meaning: &'static str,
}

macro_rules! error_table {
    ($($code:ident $name:literal $class:ident $meaning:literal;)+) => {
        /// What went wrong, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
        pub enum Code { $(#[serde(rename = $name)] $code),+ }

        /// Every code, in the order of the reference page.
        pub const ERROR_TABLE: &[ErrorRow] =
            &[$(ErrorRow { code: Code::$code, name: $name, class: Class::$class, meaning: $meaning }),+];

        impl Code {
            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name),+ }
            }

            pub fn class(self) -> Class {
                match self { $(Self::$code => Class::$class),+ }
            }

            /// The code of a name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                ERROR_TABLE.iter().find(|row| row.name == name).map(|row| row.code)
            }
        }
    };
}

error_table! {
    InvalidParams "INVALID_PARAMS" Invalid "the input does not fit; the path, the value and what is allowed are named";
    InvalidPayload "INVALID_PAYLOAD" Invalid "an event's payload does not fit its schema";
    Unauthorized "UNAUTHORIZED" Unauthenticated "a token is missing or wrong";
    Forbidden "FORBIDDEN" Denied "the caller's role may not do this";
    InsufficientScope "INSUFFICIENT_SCOPE" Denied "the token's scope does not reach so far; the scope that does is named";
    NotFound "NOT_FOUND" NotFound "there is no such thing, or not for this caller";
    RunNotFound "RUN_NOT_FOUND" NotFound "there is no such run";
    ProcessNotFound "PROCESS_NOT_FOUND" NotFound "there is no such process";
    InvalidProcess "INVALID_PROCESS" Invalid "a process file has errors; each is listed with its line and column";
    GuardFailed "GUARD_FAILED" Refused "a guard of the process is not satisfied";
    InvalidEvent "INVALID_EVENT" Refused "the event is not allowed in this state";
    ActiveSessionExists "ACTIVE_SESSION_EXISTS" Refused "the campaign has an active session already";
    Rejected "REJECTED" Refused "the rules refuse the command; nothing changed";
    RevisionConflict "REVISION_CONFLICT" Conflict "somebody else changed it first; read again and decide again";
    Held "HELD" Conflict "the change contradicts an authoritative value; it waits as a conflict until a person decides";
    IdempotencyMismatch "IDEMPOTENCY_MISMATCH" Conflict "the idempotency key was used for another request";
    RateLimited "RATE_LIMITED" Limited "too many at once; try again after retry_after_ms";
    TooLarge "TOO_LARGE" TooLarge "the request, or what it would keep, is larger than a limit; the limit is named";
    Unavailable "UNAVAILABLE" Unavailable "not possible right now; the same request may be sent again";
    InternalError "INTERNAL_ERROR" Internal "a fault of the server; the request id is in its log";
}

/// An error as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FaultBody {
    pub code: Code,
    /// The class as gRPC names it.
    pub status: &'static str,
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// JSON pointer to the field at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The offending value, if it is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// Whether the same request may succeed later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Fields that only the errors of one noun have, see [`crate::Noun::fault_fields`].
    #[serde(flatten)]
    #[schemars(skip)]
    pub details: Map<String, Value>,
    /// What would have been right, or is like it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
}

/// A field that a noun adds to its errors.
#[derive(Debug, Clone, Copy)]
pub struct FaultField {
    pub name: &'static str,
    pub description: &'static str,
    pub schema: fn() -> Value,
    /// If the field is the id of a thing, the word for it. Every error of an operation whose input has a field of this name
    /// then carries the id, and its sentence names the thing.
    pub subject: Option<&'static str>,
}

/// An operation's failure: the body for the caller, and the cause, which goes only to the log.
#[derive(Debug, Clone)]
pub struct Fault {
    body: Box<FaultBody>,
    /// The thing that the fault is about, such as `universe "sol"`, if the message does not name it.
    subject: Option<Box<str>>,
    cause: Option<Box<str>>,
}

/// Longest value, as JSON, that an error repeats.
const VALUE_BYTES_MAX: usize = 200;

impl Fault {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            body: Box::new(FaultBody {
                code,
                status: code.class().status(),
                message: message.into(),
                hint: None,
                path: None,
                value: None,
                allowed: Vec::new(),
                retryable: matches!(code.class(), Class::Limited | Class::Unavailable),
                retry_after_ms: None,
                request_id: None,
                details: Map::new(),
                example: None,
            }),
            subject: None,
            cause: None,
        }
    }

    pub fn internal(cause: impl fmt::Display, request_id: String) -> Self {
        let mut fault = Self::new(Code::InternalError, format!("the server failed on this request ({request_id})"))
            .hint("try again; if it stays, report the request id, which is in the server's log");
        fault.body.request_id = Some(request_id);
        fault.cause = Some(cause.to_string().into());
        fault
    }

    /// Stored data is damaged; the caller cannot repair it.
    pub fn damaged_store(cause: impl fmt::Display, request_id: String) -> Self {
        let message = format!("what is kept is damaged, and this needs a part that cannot be read ({request_id})");
        let mut fault = Self::internal(cause, request_id)
            .hint("ask whoever runs the server to restore a backup; what is whole can still be read meanwhile");
        fault.body.message = message;
        fault
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub(crate) fn without_hint(mut self) -> Self {
        self.body.hint = None;
        self
    }

    #[must_use]
    pub fn with_path(mut self, pointer: impl Into<String>) -> Self {
        self.body.path = Some(truncate_for_message(&pointer.into()));
        self
    }

    /// Repeats the offending value, unless it is long.
    #[must_use]
    pub fn value(mut self, value: &Value) -> Self {
        self.body.value = (value.to_string().len() <= VALUE_BYTES_MAX).then(|| value.clone());
        self
    }

    #[must_use]
    pub fn allowed(mut self, allowed: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.body.allowed = allowed.into_iter().map(Into::into).collect();
        self
    }

    #[must_use]
    pub fn retry_after_ms(mut self, milliseconds: u64) -> Self {
        self.body.retry_after_ms = Some(milliseconds);
        self
    }

    /// The id under which the server's log has the cause.
    #[must_use]
    pub fn request_id(mut self, request_id: impl Into<String>) -> Self {
        self.body.request_id = Some(request_id.into());
        self
    }

    /// Adds a field of one noun.
    #[must_use]
    pub fn detail(mut self, name: &str, value: Value) -> Self {
        self.body.details.insert(name.to_owned(), value);
        self
    }

    /// Adds the id of the thing that the fault is about, before other details. The sentence names the thing unless the
    /// message does.
    #[must_use]
    pub fn subject(mut self, noun: &str, field: &str, id: &str) -> Self {
        let id = truncate_for_message(id);
        self.subject = (!self.body.message.contains(&id)).then(|| format!("{noun} {id:?}").into());
        self.body.details.shift_insert(0, field.to_owned(), Value::String(id));
        self
    }

    #[must_use]
    pub fn example(mut self, example: Value) -> Self {
        self.body.example = Some(example);
        self
    }

    pub fn code(&self) -> Code {
        self.body.code
    }

    pub fn class(&self) -> Class {
        self.body.code.class()
    }

    pub fn body(&self) -> &FaultBody {
        &self.body
    }

    /// For the log only: what the caller must not see.
    pub fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// What went wrong and what to do next, for a person: the thing is named, and the code is not.
    pub fn to_sentence(&self) -> String {
        let FaultBody { message, hint, .. } = &*self.body;
        let about = self.subject.as_ref().map(|subject| format!(" ({subject})")).unwrap_or_default();
        match hint {
            // A message of several lines ends with an excerpt of the source, so a period would be wrong.
            Some(hint) if message.contains('\n') => format!("{message}{about}\n{hint}"),
            Some(hint) => format!("{message}{about}. {hint}"),
            None => format!("{message}{about}"),
        }
    }

    /// `{"error": …}`, the shape that every surface sends.
    pub fn envelope(&self) -> Value {
        serde_json::json!({ "error": self.body })
    }
}

impl Fault {
    /// `{"code": 422, "error": …, "message": …, "fields": {…}, "errors": {…}}`: a sentence under both names that programs
    /// written for Kanka look for, and for an input that does not fit the field at fault, under both names as well.
    pub fn status_body(&self, status: u16) -> Value {
        let sentence = self.to_sentence();
        let mut body = serde_json::json!({"code": status, "error": sentence, "message": sentence});
        if status == 422 {
            let path = self.body.path.as_deref().unwrap_or_default();
            let field = path.rsplit('/').find(|part| !part.is_empty() && part.parse::<usize>().is_err());
            let fields = serde_json::json!({field.unwrap_or("request"): [sentence]});
            body["fields"] = fields.clone();
            body["errors"] = fields;
        }
        body
    }
}

/// The sentence that a person or a model reads first: the code, what went wrong, what to do next.
impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.body.code.name(), self.to_sentence())
    }
}

impl std::error::Error for Fault {}
