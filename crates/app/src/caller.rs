//! Who asks. A surface fills it in; every operation gets it.

use std::sync::Arc;

/// The one who calls an operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller {
    pub principal: Principal,
}

/// Whose call it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Principal {
    /// Whoever started the process: the caller on stdio, and on loopback.
    Owner,
    Named(Arc<str>),
}

impl Caller {
    pub fn owner() -> Self {
        Self { principal: Principal::Owner }
    }
}
