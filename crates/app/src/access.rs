//! What a request says of who sends it: a token, or that somebody passed it on.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::journal::hex;
use crate::{Code, Fault};

/// SHA-256 in hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    hash_bytes(text.as_bytes())
}

pub(crate) fn hash_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes).into())
}

/// Whether two texts of one length are equal, in a time that does not tell where they differ.
pub(crate) fn is_equal(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// Why a token that was sent is refused, and what is sent to it ends.
pub fn unauthorized() -> Fault {
    Fault::new(Code::Unauthorized, "the token is not known here, or was revoked")
        .hint("send Authorization: Bearer with a token of skald token create")
}

/// The token in what a request says of its authorization, if it says anything. `None` among the values is no text.
pub fn bearer<'a>(mut values: impl Iterator<Item = Option<&'a str>>) -> Option<Result<&'a str, Fault>> {
    let value = values.next()?;
    let unreadable = || {
        let fault = Fault::new(Code::Unauthorized, "the authorization header holds no bearer token");
        fault.hint("send Authorization: Bearer TOKEN, once")
    };
    if values.next().is_some() {
        return Some(Err(unreadable()));
    }
    let token = value.and_then(|text| {
        let (scheme, token) = text.trim().split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    Some(token.ok_or_else(unreadable))
}

/// Why a request without a token is refused where one is needed.
pub fn token_required() -> Fault {
    let fault = Fault::new(Code::Unauthorized, "a token is required here");
    fault.hint("send Authorization: Bearer with a token of skald token create")
}

/// Headers that proxies and tunnels add to what they pass on, beside those that begin with `x-forwarded`.
const FORWARDING_HEADERS: [&str; 9] = [
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "fastly-client-ip",
    "x-envoy-external-address",
];

/// Whether the headers of a request, by their lower-case names, say that somebody passed it on: then whoever sent it need
/// not be on this machine, though the connection is.
pub fn is_forwarded<'a>(mut names: impl Iterator<Item = &'a str>) -> bool {
    names.any(|name| FORWARDING_HEADERS.contains(&name) || name.starts_with("x-forwarded"))
}

/// Why a request that was passed on is refused without a token.
pub fn token_required_of_forwarded() -> Fault {
    let fault = Fault::new(Code::Unauthorized, "a token is required of what came through a proxy");
    fault.hint("send Authorization: Bearer with a token of skald token create")
}
