//! The time of a page in a large lore, beside a bare axum handler that answers a constant page of the same size.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::ensure;

use super::super::BenchOptions;
use super::super::load::Connection;
use super::super::report::{BenchTarget, ReportTable};
use super::super::server_process::BenchServer;
use super::super::statistics::median;
use super::first_visit::BROWSER_ENCODINGS;
use super::page_server::PageServer;

const ROUNDS: usize = 200;
const ROUNDS_LONG: usize = 1_000;
const WARM_UP_ROUNDS: usize = 20;
const MILLISECONDS_MAX: f64 = 5.0;

/// A page that is timed, with a text that shows that it is the right one.
struct TimedPage {
    name: &'static str,
    request: String,
    plain_request: String,
    expected_text: &'static str,
    /// The promise; none for a page that looks at every entity.
    milliseconds_max: Option<f64>,
}

pub(super) fn compare(options: &BenchOptions, server: &PageServer) -> anyhow::Result<Vec<BenchTarget>> {
    let page = |name, path: &str, expected_text| TimedPage {
        name,
        request: server.get_request(path, BROWSER_ENCODINGS),
        plain_request: server.get_request(path, "identity"),
        expected_text,
        milliseconds_max: Some(MILLISECONDS_MAX),
    };
    let table_path = format!("/c/{}", server.campaign_id);
    let in_campaign = |name, path: &str, expected_text| page(name, &format!("{table_path}{path}"), expected_text);
    let entry_path = format!("/lore/{}", server.entity_id);
    let pages = [
        page("home", "/", "Another table 23"),
        in_campaign("the table", "", "Deed number 59"),
        in_campaign("an evening", "/sessions/1", "Deed number 59"),
        in_campaign("the list of the lore", "/lore", "lore-entries"),
        in_campaign("an entry of the lore", &entry_path, "Mentioned by"),
        in_campaign("the editor", &format!("{entry_path}/edit"), "<textarea"),
        in_campaign("a search for a word", "/lore?q=harbour", "lore-entries"),
        in_campaign("hits while somebody types", "/lore/search?q=harbour%20tow", "class=\"hit\""),
        TimedPage { milliseconds_max: None, ..in_campaign("the graph", "/graph", "Who knows whom") },
        in_campaign("the timeline", "/timeline", "Bell number 1 rang"),
    ];
    let mut connection = Connection::open(server.server.address)?;
    let mut sizes = Vec::new();
    for page in &pages {
        connection.exchange(page.plain_request.as_bytes())?;
        let html = String::from_utf8_lossy(&connection.body);
        ensure!(html.contains(page.expected_text), "{} has no {:?}: {html}", page.name, page.expected_text);
        connection.exchange(page.request.as_bytes())?;
        sizes.push(connection.body.len());
    }
    let bare = BenchServer::start(
        |port| {
            let mut command = Command::new(&options.constant_page);
            command.arg(port.to_string()).args(sizes.iter().map(ToString::to_string));
            command
        },
        Stdio::null(),
    )?;
    let mut bare_connection = Connection::open(bare.address)?;
    let bare_requests: Vec<String> = sizes
        .iter()
        .map(|size| format!("GET /{size} HTTP/1.1\r\nhost: {}\r\naccept-encoding: gzip\r\n\r\n", bare.address))
        .collect();
    let rounds = if options.long { ROUNDS_LONG } else { ROUNDS };
    let mut times = vec![[const { Vec::new() }; 2]; pages.len()];
    for round in 0..WARM_UP_ROUNDS + rounds {
        for (at, page) in pages.iter().enumerate() {
            let took = [
                time_exchange(&mut connection, &page.request)?,
                time_exchange(&mut bare_connection, &bare_requests[at])?,
            ];
            if round >= WARM_UP_ROUNDS {
                for (times, took) in times[at].iter_mut().zip(took) {
                    times.push(took);
                }
            }
        }
    }
    Ok(report(&pages, &sizes, times, rounds))
}

/// The time from the request to the end of the answer, in milliseconds.
fn time_exchange(connection: &mut Connection, request: &str) -> anyhow::Result<f64> {
    let started = Instant::now();
    connection.exchange(request.as_bytes())?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

fn report(pages: &[TimedPage], sizes: &[usize], times: Vec<[Vec<f64>; 2]>, rounds: usize) -> Vec<BenchTarget> {
    let mut table = ReportTable::new(
        format!("Pages on 100,000 entities beside a bare axum handler, medians of {rounds} requests"),
        &["", "bytes", "skald", "bare axum", "ratio", "promise"],
    );
    let mut targets = Vec::new();
    for ((page, size), times) in pages.iter().zip(sizes).zip(times) {
        let [ours, bare] = times.map(median);
        table.add_row([
            page.name.to_owned(),
            size.to_string(),
            format!("{ours:.2} ms"),
            format!("{bare:.2} ms"),
            format!("{:.1}", ours / bare),
            page.milliseconds_max.map_or("none: it looks at every entity".to_owned(), |most| format!("{most} ms")),
        ]);
        if let Some(most) = page.milliseconds_max {
            targets.push(BenchTarget::at_most(format!("time of {}, p50", page.name), ours, most, "ms"));
        }
    }
    table.print();
    targets
}
