//! Raises the limit of open files and connections. Many shells allow 1,024 and let a program raise that; a server with
//! thousands of readers needs it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as the system lets this program.
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, ?limit, "the limit of open files could not be raised");
    }
}

/// The limit once it is raised; `None` if there is no limit.
pub(crate) fn hard_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}
