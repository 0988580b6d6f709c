//! Raises the limit of open files and connections. Many shells allow 1,024 and let a program raise that; a server with
//! thousands of readers needs it. Other systems than Unix have no such limit.

/// Raises the limit as far as the system lets this program.
#[cfg(unix)]
pub(crate) fn raise_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, ?limit, "the limit of open files could not be raised");
    }
}

/// The limit once it is raised; `None` if there is no limit.
#[cfg(unix)]
pub(crate) fn hard_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum
}

#[cfg(not(unix))]
pub(crate) fn raise_limit() {}

#[cfg(not(unix))]
pub(crate) fn hard_limit() -> Option<u64> {
    None
}
