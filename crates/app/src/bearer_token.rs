//! Identifies the caller of a request: parses bearer tokens and detects requests that a proxy forwarded.

use subtle::ConstantTimeEq;

use crate::{Caller, Code, Fault};

/// Whether two texts of one length are equal, in a time that does not tell where they differ.
pub(crate) fn constant_time_eq(left: &str, right: &str) -> bool {
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

/// The caller of a request that sends no token: the owner, unless a token is required or somebody passed the request on.
/// Then whoever sent it need not be on this machine, though the connection is. The names are those of its headers, in
/// lower case.
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

/// Why a request is refused that came to a handler without a caller: it went around identification, which is a mistake of
/// this program. Nobody is assumed to have sent it.
pub fn unidentified() -> Fault {
    Fault::new(Code::InternalError, "it was not established who sent this request")
}
