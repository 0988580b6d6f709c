//! Attack: a page of another site makes a browser on the owner's machine call the server.

use skald_testkit::{Client, Reply};

use crate::process::RunningProgram;

type Headers<'a> = &'a [(&'a str, &'a str)];

#[test]
fn a_page_of_another_site_gets_nothing() {
    let (_running, address) = RunningProgram::serve(&[]);
    let send = |method: &str, path: &str, headers: &[(&str, &str)]| -> Reply {
        Client::connect(address).send(method, path, headers, if method == "POST" { b"{}" } else { b"" })
    };
    let cross = ("Sec-Fetch-Site", "cross-site");
    let (navigate, document) = (("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"));
    let plain = ("Content-Type", "text/plain");
    let refused: [(&str, &str, Headers); 6] = [
        // An image, a script, a frame, a form, and fetches without an `Origin` header.
        (
            "GET",
            "/api/v1/odds.svg?expression=2d6",
            &[cross, ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")],
        ),
        ("GET", "/api/v1/context", &[cross, ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")]),
        ("GET", "/api/v1/context", &[cross, navigate, ("Sec-Fetch-Dest", "iframe")]),
        ("POST", "/api/v1/campaign_create", &[cross, navigate, document, plain]),
        ("POST", "/universes", &[cross, ("Sec-Fetch-Mode", "no-cors"), plain]),
        ("GET", "/universes", &[cross]),
    ];
    for (method, path, headers) in refused {
        let reply = send(method, path, headers);
        assert_eq!(reply.status, 403, "{method} {path} {headers:?}");
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"));
    }
    let allowed: [Headers; 5] = [
        &[cross, navigate, document],
        &[("Sec-Fetch-Site", "none"), navigate, document],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Origin", "http://localhost:3000"), cross],
        &[],
    ];
    for headers in allowed {
        let reply = send("GET", "/universes", headers);
        assert_eq!(reply.status, 200, "{headers:?}");
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"));
    }
    assert_eq!(send("GET", "/nowhere", &[]).header("cross-origin-resource-policy"), Some("same-origin"));
}
