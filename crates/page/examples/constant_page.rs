//! A bare axum server for comparison: `GET /{bytes}` answers a constant page of that many bytes. `cargo xtask bench`
//! compares the page with it.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;

const USAGE: &str = "usage: constant_page PORT BYTES…";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let port: u16 = words.next().ok_or(USAGE)?.parse()?;
    let sizes = words.map(|word| word.parse()).collect::<Result<Vec<usize>, _>>()?;
    let pages: BTreeMap<usize, Bytes> = sizes.into_iter().map(|size| (size, vec![b'x'; size].into())).collect();
    let router = pages.into_iter().fold(Router::new(), |router, (size, page)| {
        // It says that it is packed, as the pages that it stands for are; nobody unpacks it.
        let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CONTENT_ENCODING, "gzip")];
        router.route(&format!("/{size}"), get(move || async move { (headers, page) }))
    });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    // Without TCP_NODELAY an answer may wait for the acknowledgement of the one before. An error only makes it slower.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await?;
    Ok(())
}
