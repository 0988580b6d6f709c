//! Bounds the rows that refused entries get in the audit log, so that a stranger who tries tokens cannot fill it.
//!
//! A metric counts every attempt. The audit log has one row a minute for each address and each known token, and only so
//! many rows a minute for strangers altogether.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use skald_domain::limits;

use crate::{Fault, RequestSurface};

/// Where a request comes from, as far as its surface knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestOrigin {
    pub surface: RequestSurface,
    /// The other end of the connection: the client, or a proxy before the server.
    pub address: Option<IpAddr>,
}

/// A token that was refused, and the id of the token if its secret was right: it expired, or was revoked.
#[derive(Debug)]
pub(crate) struct RefusedToken {
    pub fault: Fault,
    pub token_id: Option<String>,
}

impl From<Fault> for RefusedToken {
    fn from(fault: Fault) -> Self {
        Self { fault, token_id: None }
    }
}

/// Who is refused: one row a minute stands for all attempts of one source.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Source {
    Token(String),
    Address(IpAddr),
    /// Unknown, so that each attempt is a source of its own.
    Attempt(usize),
}

/// The sources that have a row in the current minute.
#[derive(Debug, Default)]
pub(crate) struct RefusedEntryRows(Mutex<RowsOfMinute>);

#[derive(Debug, Default)]
struct RowsOfMinute {
    minute: i64,
    sources: HashSet<(&'static str, RequestSurface, Source)>,
    /// How many of the sources are strangers.
    strangers: usize,
}

impl RefusedEntryRows {
    /// Whether an attempt gets a row: the first of its source in this minute does, while strangers have rows left.
    pub(crate) fn admit(
        &self,
        operation: &'static str,
        origin: RequestOrigin,
        token_id: Option<&str>,
        now: Timestamp,
    ) -> bool {
        let minute = now.as_second().div_euclid(60);
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rows.minute != minute {
            *rows = RowsOfMinute { minute, ..RowsOfMinute::default() };
        }
        // There are as many known tokens as the owner created, so each may have its row.
        if let Some(token_id) = token_id {
            return rows.sources.insert((operation, origin.surface, Source::Token(token_id.to_owned())));
        }
        if rows.strangers >= limits::REFUSED_ENTRIES_AUDITED_PER_MINUTE {
            return false;
        }
        let source = match origin.address {
            Some(address) => Source::Address(network_of(address)),
            None => Source::Attempt(rows.strangers),
        };
        let is_new = rows.sources.insert((operation, origin.surface, source));
        rows.strangers += usize::from(is_new);
        is_new
    }
}

/// The addresses that one client may have: a single one of IPv4, the first 64 bits of IPv6.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_address(address: &str) -> RequestOrigin {
        RequestOrigin { surface: RequestSurface::Rest, address: Some(address.parse().expect("an address")) }
    }

    fn at_second(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000_020 + second).expect("a time")
    }

    #[test]
    fn an_address_has_one_row_a_minute_for_each_operation_and_surface() {
        let rows = RefusedEntryRows::default();
        let admit = |operation, origin, second| rows.admit(operation, origin, None, at_second(second));
        let address = from_address("203.0.113.5");
        assert!(admit("authenticate", address, 0));
        assert!((1..60).all(|second| !admit("authenticate", address, second)));
        assert!(!admit("authenticate", from_address("::ffff:203.0.113.5"), 59), "the same address");
        assert!(admit("missing_token", address, 59));
        assert!(admit("authenticate", RequestOrigin { surface: RequestSurface::Mcp, ..address }, 59));
        assert!(admit("authenticate", address, 60), "the next minute");
        assert!(admit("authenticate", from_address("2001:db8::1"), 60));
        assert!(!admit("authenticate", from_address("2001:db8::ffff:1"), 60), "of the same network");
        assert!(admit("authenticate", from_address("2001:db8:0:1::1"), 60));
    }

    #[test]
    fn strangers_have_so_many_rows_a_minute_and_each_known_token_its_own() {
        let rows = RefusedEntryRows::default();
        let most = limits::REFUSED_ENTRIES_AUDITED_PER_MINUTE;
        let strangers = |second| {
            let admitted = (0..1_000_u32).filter(|number| {
                let origin = RequestOrigin {
                    surface: RequestSurface::Mcp,
                    address: Some(std::net::Ipv4Addr::from_bits(*number).into()),
                };
                rows.admit("authenticate", origin, None, at_second(second))
            });
            admitted.count()
        };
        assert_eq!([strangers(0), strangers(1), strangers(60)], [most, 0, most]);
        let origin = RequestOrigin::default();
        assert!(!rows.admit("redeem_invitation", origin, None, at_second(60)), "no row is left");
        for token in ["token_a", "token_b"] {
            assert!(rows.admit("authenticate", origin, Some(token), at_second(60)));
            assert!(!rows.admit("authenticate", origin, Some(token), at_second(61)));
        }
        let unknown = (0..1_000).filter(|_| rows.admit("redeem_invitation", origin, None, at_second(120))).count();
        assert_eq!(unknown, most, "attempts without an address are counted one by one");
    }
}
