//! The page's own files: style sheet, scripts and icon. They are in the binary, packed, under names that hold the hash of
//! their content, so that a browser never asks for one again.

use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::extractors::PagePath;

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// One file, in three forms.
#[derive(Debug)]
pub(crate) struct Asset {
    name: &'static str,
    path: &'static str,
    mime_type: &'static str,
    /// Whether it is a script that imports the module of streams.
    imports_stream: bool,
    plain: &'static [u8],
    gzip: &'static [u8],
    brotli: &'static [u8],
}

/// The address of an asset. An unknown name is a mistake in this crate; a test requests every address.
pub(crate) fn asset_path(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("/assets/missing", |asset| asset.path)
}

/// Whether a script imports the module of streams.
pub(crate) fn imports_stream(name: &str) -> bool {
    ASSETS.iter().any(|asset| asset.name == name && asset.imports_stream)
}

/// `GET /assets/{name}`.
pub(crate) async fn serve(PagePath(name): PagePath<String>, headers: HeaderMap) -> Response {
    let found = ASSETS.iter().find(|asset| asset.path.strip_prefix("/assets/") == Some(&name));
    let Some(asset) = found else {
        // A page that was rendered before an upgrade requests files of the old version: the 404 must not be cached.
        return (StatusCode::NOT_FOUND, [(CACHE_CONTROL, "no-store")], "there is no such file").into_response();
    };
    let (bytes, encoding) = match accepted_encoding(&headers) {
        Encoding::Brotli => (asset.brotli, Some("br")),
        Encoding::Gzip => (asset.gzip, Some("gzip")),
        Encoding::Plain => (asset.plain, None),
    };
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.mime_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// The best encoding that a browser takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Brotli,
    Gzip,
    Plain,
}

pub(crate) fn accepted_encoding(headers: &HeaderMap) -> Encoding {
    let text = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts = |name: &str| {
        text.split(',').any(|part| {
            let (encoding, weight) = part.split_once(';').unwrap_or((part, ""));
            encoding.trim().eq_ignore_ascii_case(name) && !matches!(weight.trim(), "q=0" | "q=0.0")
        })
    };
    if accepts("br") {
        Encoding::Brotli
    } else if accepts("gzip") {
        Encoding::Gzip
    } else {
        Encoding::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    /// The file of htmx 4.0.0 as its authors published it.
    const HTMX: &str = "e484d9171a9db30a39c8f16e3d709d4137f3211c659f8e6125816635033d593f";

    /// Bytes in hexadecimal digits.
    struct HexDigest<'a>(&'a [u8]);

    impl std::fmt::LowerHex for HexDigest<'_> {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
        }
    }

    fn asset(name: &str) -> &'static Asset {
        ASSETS.iter().find(|asset| asset.name == name).expect("an asset")
    }

    #[test]
    fn what_others_wrote_is_what_they_published() {
        assert_eq!(format!("{:x}", HexDigest(&Sha256::digest(asset("htmx.min.js").plain))), HTMX);
    }

    #[test]
    fn the_colours_are_those_of_the_pictures() {
        let style = std::str::from_utf8(asset("page.css").plain).expect("text");
        for (name, light, dark) in skald_picture::palette() {
            let pair = format!("--{name}: light-dark({light}, {dark});");
            assert!(style.contains(&pair), "page.css has no {pair}");
        }
    }

    #[test]
    fn modules_import_others_by_their_hashed_names() {
        for asset in ASSETS.iter().filter(|asset| asset.mime_type.starts_with("text/javascript")) {
            let text = std::str::from_utf8(asset.plain).expect("text");
            for rest in text.split("from \"./").skip(1) {
                let imported = rest.split('"').next().expect("a name");
                let is_known = ASSETS.iter().any(|known| known.path.strip_prefix("/assets/") == Some(imported));
                assert!(is_known, "{} imports {imported}", asset.name);
            }
        }
    }

    #[test]
    fn encodings_are_chosen_by_what_is_taken() {
        let chosen = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(text));
            accepted_encoding(&headers)
        };
        assert_eq!(chosen("gzip, deflate, br"), Encoding::Brotli);
        assert_eq!(chosen("gzip;q=0.5"), Encoding::Gzip);
        assert_eq!(chosen("br;q=0, identity"), Encoding::Plain);
        assert_eq!(accepted_encoding(&HeaderMap::new()), Encoding::Plain);
    }

    #[test]
    fn what_every_page_loads_is_small() {
        let first: usize = ["htmx.min.js", "page.css", "page.js"].map(|name| asset(name).gzip.len()).iter().sum();
        assert!(first < 40_000, "{first} bytes");
    }
}
