//! Access tokens of an authorization server: JWTs, checked against the keys that the configured issuer publishes.
//!
//! Skald is a resource server and nothing else: it gives out no such token. Cryptography is ring's, which TLS uses too.

mod issuer_keys;
mod ring_provider;
mod verify_token;

pub use verify_token::{JwtVerifier, OauthOptions};
