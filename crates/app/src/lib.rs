//! What Skald can do: one function per operation, described once in the [`Catalogue`].
//!
//! A surface sees the [`Engine`] and nothing behind it. This room decides who may call what, turns JSON into typed input
//! and typed output into JSON, and explains every refusal as a [`Fault`]. It opens no file and no socket.

mod access;
mod answer;
mod answered;
mod caller;
mod campaign;
mod catalogue;
mod changes;
mod chosen_id;
mod completion;
mod computing;
mod creation_quota;
mod dice;
mod engine;
mod fault;
mod following;
mod gate;
mod hint;
mod input;
mod journal_fault;
mod large_requests;
mod listing;
mod method_fields;
mod noun;
mod operation;
mod places;
mod ports;
mod prompt;
pub mod reference;
mod request_budget;
mod resource;
mod revocations;
mod schema;
mod seen;
mod tokens;
mod toolset;
mod universe;

pub(crate) use answered::{Answered, Terms, stored_key};
pub(crate) use chosen_id::check_chosen_id;

pub use access::{bearer, caller_without_token, unauthorized, unidentified};
pub use answer::{Answer, Document, Prepared};
pub use caller::{
    Caller, CampaignRole, Conversation, Credential, EVERY_CAMPAIGN, Holder, Principal, PrincipalKind, Roles,
};
pub use campaign::CampaignStream;
pub use catalogue::Catalogue;
pub use changes::{Change, Changes, News, Told};
pub use completion::{Completion, CompletionRequest, CompletionTarget};
pub use engine::{Contents, ContentsText, Engine, Local, Work, universe_named_by};
pub use fault::{Class, Code, ErrorRow, Fault, FaultBody, TABLE};
pub use gate::{ArtifactFile, FilesError, GateFiles, ProcessFile};
pub use input::{TooComplex, from_text, nearest, parse_json};
pub use large_requests::LargeRequests;
pub use noun::{Noun, Nouns, RecordAudience};
pub use operation::{Allowed, Call, Entry, Exposed, JSON, Kind, Operation, Route, Verb, document};
pub use ports::{App, Clock, Entropy};
pub use prompt::{Prompt, PromptArgument, PromptEntry};
pub use request_budget::{Reserved, reserve_answer, reserve_bytes, reserve_values};
pub use resource::{Resource, UriFields, segment};
pub use revocations::Revocations;
pub use skald_domain::access::Token;
pub use skald_domain::plain_text::short;
pub use skald_domain::{idempotency_key, limits, plain_text};
pub use tokens::{NewToken, holder};
pub use toolset::{Toolset, Toolsets, Visible};
pub use universe::{Fed, Feed, UniverseStream};
