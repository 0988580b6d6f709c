//! The application layer: one function per operation, described once in the [`Catalogue`].
//!
//! A surface sees the [`Engine`] and nothing behind it. This crate decides who may call what, turns JSON into typed
//! input and typed output into JSON, and explains every refusal as a [`Fault`]. It opens no file and no socket.

mod administration;
mod answer;
mod app;
mod audit;
mod caller;
mod campaign;
mod campaign_lookup;
mod catalogue;
mod chosen_id_permission;
mod completion;
mod computation_pool;
mod creation_quota;
mod dice;
mod engine;
mod entered_campaign;
mod execute_command;
mod fault;
mod gate;
mod input;
mod input_parts;
mod journal_fault;
mod journal_follower;
mod json_schema;
mod large_requests;
mod list_page;
mod local_engine;
mod lore;
mod memory_budget;
mod method_fields;
mod noun_registry;
mod operation;
pub mod permissions;
mod prompt;
mod publish_records;
mod rate_limits;
mod redaction;
pub mod reference_pages;
mod refused_entries;
mod remove_hint_clauses;
mod request_control;
mod request_surface;
mod resource;
mod resource_changes;
mod route;
mod sha256;
pub mod skills;
mod tokens;
mod toolset;
mod universe;

pub(crate) use chosen_id_permission::check_chosen_id;
pub(crate) use execute_command::{CommandAnswer, CommandTerms, stored_key};

pub use administration::{Administration, VerificationResult};
pub use answer::{Answer, JsonDocument, ObjectWithDocument, RenderedJson};
pub use app::{App, Clock, Entropy};
pub use audit::AuditScope;
pub use caller::{
    Caller, CampaignRole, Conversation, Credential, EVERY_CAMPAIGN, Holder, Principal, PrincipalKind, Roles,
};
pub use campaign::CampaignStream;
pub use catalogue::Catalogue;
pub use completion::{Completion, CompletionRequest, CompletionTarget};
pub use engine::{ContentsText, Engine, ReadContents};
pub use fault::{Class, Code, ERROR_TABLE, ErrorRow, Fault, FaultBody, FaultField};
pub use gate::{ArtifactFile, ContentRequest, EvidenceFile, FilesError, GateFiles, ProcessFile};
pub use input::{TooComplex, input_from_text, nearest_word, parse_json};
pub use journal_follower::CampaignStates;
pub use large_requests::LargeRequests;
pub use local_engine::LocalEngine;
pub use lore::{
    ImportOptions, ImportReport, LinkedLore, NewLink, RemoteAddress, RemoteAlias, RemoteChange, RemoteConnector,
    RemoteCreated, RemoteDraft, RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteFuture, RemoteHead, RemoteKind,
    RemoteLore, RemotePage, RemoteParent, RemotePost, RemotePostChange, RemoteProfile, RemoteTarget, SyncProgress,
    SyncReport, SyncScope, UnresolvedLink, mirror_linked_campaigns, mirrored_tag_name,
};
pub use memory_budget::{Reservation, reserve_answer, reserve_bytes, reserve_values};
pub use noun_registry::{CampaignEffect, Noun, Nouns, RecordAudience, RecordSecrecy, SecretChanges};
pub use operation::{Allowed, Call, Exposed, Operation, OperationEntry, OperationKind, answer_bytes};
pub use permissions::PermissionClass;
pub use prompt::{Prompt, PromptArgument, PromptEntry};
pub use rate_limits::{DEFAULT_RATE_FIGURES, RateAllowance, RateClass, RateLimits};
pub use refused_entries::RequestOrigin;
pub use request_control::RequestControl;
pub use request_surface::RequestSurface;
pub use resource::{Resource, UriFields, percent_encode};
pub use resource_changes::{AnnouncedChange, ChangeReaders, Changes, News, ResourceChange};
pub use route::{API_PREFIX, FaultShape, HttpMethod, MIME_JSON, MIME_YAML, RequestBody, Route, Success};
pub use skald_domain::access::{Invitation, OauthSubject, RateFigures, Token, TokenRestrictions, TokenScope};
pub use skald_domain::deceptive_characters::truncate_for_message;
pub use skald_domain::{deceptive_characters, idempotency_key, limits};
pub use skald_journal::{AuditFilter, AuditRow};
pub use tokens::access_tokens::{AccessTokenVerifier, VerifiedAccessToken, invalid_token_fault};
pub use tokens::identify_caller::{
    caller_without_token, parse_bearer_token, unauthorized_fault, unidentified_caller_fault,
};
pub use tokens::invitations::{NewInvitation, RedeemedInvitation};
pub use tokens::page_sessions::{ListedPageSession, StartedPageSession, page_session_id};
pub use tokens::revocations::Revocations;
pub use tokens::{NewToken, holder_from_token};
pub use toolset::{Toolset, ToolsetFilter, Toolsets};
pub use universe::{Feed, FeedEvent, FeedEvents, FeedItem, UniverseStream};
