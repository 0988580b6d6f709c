//! Kanka's dialect: the Kanka-compatible API over a campaign's lore, and the client with which a campaign mirrors one of
//! Kanka's. Nothing outside this crate knows Kanka's routes, field names or ids of types.

mod api;
mod client;
mod entity_kinds;

pub use api::{API_PATH, API_ROUTES, ApiOptions, api_handler};
pub use client::{ConnectionTimeouts, KANKA_BASE_URL, KankaConnector, KankaTokenSource, PaceClock, SystemPaceClock};
pub use entity_kinds::{ENTITY_KINDS, EntityKind};
