//! Identifies the caller of a request: parses bearer tokens and detects requests that a proxy forwarded.

use subtle::ConstantTimeEq;

use crate::{Caller, Code, Fault};

/// Whether two texts of one length are equal, compared in constant time.
pub(crate) fn constant_time_eq(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// The fault for a token that is unknown or revoked.
pub fn unauthorized_fault() -> Fault {
    Fault::new(Code::Unauthorized, "the token is not known here, or was revoked")
        .hint("send Authorization: Bearer with a token of skald token create")
}

/// The token in the values of the `Authorization` header, if there are any. A value that is not text comes as `None`.
pub fn parse_bearer_token<'a>(mut values: impl Iterator<Item = Option<&'a str>>) -> Option<Result<&'a str, Fault>> {
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

/// Headers that proxies and tunnels add to forwarded requests, besides those that begin with `x-forwarded`.
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

/// The caller of a request without a token: the owner, unless a token is required or a proxy forwarded the request. A
/// proxy on this machine forwards requests from elsewhere. `names` are the header names in lower case.
pub fn caller_without_token<'a>(
    is_token_required: bool,
    mut names: impl Iterator<Item = &'a str>,
) -> Result<Caller, Fault> {
    let message = if is_token_required {
        "a token is required here"
    } else if names.any(|name| FORWARDING_HEADERS.contains(&name) || name.starts_with("x-forwarded")) {
        "a token is required of what came through a proxy"
    } else {
        return Ok(Caller::owner());
    };
    Err(Fault::new(Code::Unauthorized, message).hint("send Authorization: Bearer with a token of skald token create"))
}

/// The fault for a request that reached a handler without a caller, which is a bug in the routes. It must not fall back
/// to the owner.
pub fn unidentified_caller_fault() -> Fault {
    Fault::new(Code::InternalError, "it was not established who sent this request")
}
