//! The files of the page: how long a browser may keep them, and what is announced in the head of a page.

use std::path::Path;

use axum::body::Body;
use axum::extract::Request;
use skald_app::Caller;

use crate::{Answer, World};

fn named_assets(html: &str) -> Vec<&str> {
    html.split('"').filter(|value| value.starts_with("/assets/")).collect()
}

#[tokio::test]
async fn files_with_a_hash_in_their_name_are_kept_for_ever() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let page = world.get(&owner, &format!("/c/{campaign}")).await;
    assert!(!page.headers.contains_key("cache-control"), "a page is of one visitor");
    let assets = named_assets(&page.body);
    assert!(assets.len() > 5, "{assets:?}");
    let get = async |path: &str, encoding: &str| -> (Answer, usize) {
        let request = Request::builder().uri(path).header("accept-encoding", encoding).body(Body::empty()).unwrap();
        let (parts, body) = world.send(request, None).await.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        (Answer { status: parts.status, headers: parts.headers, body: String::new() }, bytes.len())
    };
    for path in assets {
        let name = path.trim_start_matches("/assets/");
        let hash = name.rsplit('.').nth(1).unwrap();
        assert!(hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()), "{name} has no hash");
        let mut sizes = Vec::new();
        for (accepted, encoding) in [("identity", None), ("gzip", Some("gzip")), ("br, gzip", Some("br"))] {
            let (answer, bytes) = get(path, accepted).await;
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(answer.headers["cache-control"], "public, max-age=31536000, immutable", "{path}");
            assert_eq!(answer.headers.get("content-encoding").map(|value| value.to_str().unwrap()), encoding, "{path}");
            let vary: Vec<&str> = answer.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
            assert!(vary.contains(&"accept-encoding"), "{path}: {vary:?}");
            sizes.push(bytes);
        }
        assert!(sizes[0] < 300 || sizes[0] > sizes[2], "{path}: {sizes:?}");
    }
    let (missing, _) = get("/assets/page.0000000000000000.css", "identity").await;
    assert_eq!((missing.status.as_u16(), &missing.headers["cache-control"]), (404, &"no-store".parse().unwrap()));
}

/// A module that a script imports is announced, so that a browser asks for both at once.
#[tokio::test]
async fn imported_modules_are_announced() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    for path in
        ["/".to_owned(), format!("/c/{campaign}"), format!("/c/{campaign}/graph"), format!("/c/{campaign}/lore")]
    {
        let page = world.get(&owner, &path).await.body;
        let announced: Vec<&str> = page
            .split("<link rel=\"modulepreload\" href=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap())
            .collect();
        assert!(announced.len() >= 3, "{path}: {announced:?}");
        let scripts: Vec<&str> = named_assets(&page)
            .into_iter()
            .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "js"))
            .collect();
        let mut imports = String::new();
        for script in &scripts {
            imports += &world.get(&owner, script).await.body;
        }
        for module in announced {
            let import = format!("\"./{}\"", module.trim_start_matches("/assets/"));
            assert!(imports.contains(&import), "{path}: nothing of {scripts:?} imports {module}");
        }
    }
    let page = world.get(&owner, "/dice").await.body;
    assert!(!page.contains("modulepreload\" href=\"/assets/stream."), "a page without a stream loads none: {page}");
}

#[tokio::test]
async fn the_duality_grid_is_drawn_with_its_144_pairs() {
    let world = World::new().await;
    let owner = Caller::owner();
    let query = "?e=duality%28%2B2%2C%20dc%2014%29";
    let page = world.get(&owner, &format!("/dice{query}")).await.body;
    assert!(page.contains("src=\"/dice/odds.svg?e=duality%28%2B2%2C%20dc%2014%29\""), "{page}");
    let picture = world.get(&owner, &format!("/dice/odds.svg{query}")).await;
    assert_eq!((picture.status.as_u16(), &picture.headers["content-type"]), (200, &"image/svg+xml".parse().unwrap()));
    let policy = picture.headers["content-security-policy"].to_str().unwrap();
    assert_eq!(policy, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    assert!(picture.body.contains("Hope") && picture.body.contains("Fear"), "{}", picture.body);
    assert!(picture.body.matches("<rect").count() >= 144, "{}", picture.body);
    let curve = world.get(&owner, "/dice/odds.svg?e=2d6").await.body;
    assert!(curve.matches("<rect").count() < 144, "two dice have no grid: {curve}");
}
