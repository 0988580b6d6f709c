//! The surface that a request came by, for the log and the audit.

/// The surface that a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RequestSurface {
    /// The command line, or a test.
    #[default]
    Process,
    Mcp,
    Rest,
    Grpc,
    /// The web page. It counts requests, not the operations that a page is made of.
    Page,
    /// The Kanka-compatible API, which counts requests too.
    Kanka,
}

impl RequestSurface {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Grpc => "grpc",
            Self::Page => "page",
            Self::Kanka => "kanka",
        }
    }
}
