//! Benchmark of the web page on a lore of 100,000 entities: bytes of a first visit, the time of a page beside a bare axum
//! handler, and how late an event is on a thousand screens.

mod first_visit;
mod live_screens;
mod page_server;
mod page_times;

use super::BenchOptions;
use super::report::BenchTarget;
use page_server::PageServer;

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let server = PageServer::build(options)?;
    let mut targets = first_visit::measure(&server)?;
    targets.extend(page_times::compare(options, &server)?);
    targets.extend(live_screens::measure(&server)?);
    Ok(targets)
}
