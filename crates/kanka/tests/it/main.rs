//! Tests of the Kanka-compatible API over real sockets, with the memory store and with SQLite, and of the mirror.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api_server;
mod client_rules;
mod entities;
mod filters;
mod invalid_requests;
mod mirror;
mod parts;
mod player_view;
mod typed_entities;
