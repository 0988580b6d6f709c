//! A thousand screens that follow one table: whether each of them gets every event, and how late.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, ensure};

use super::super::load::Connection;
use super::super::report::{BenchTarget, ReportTable, group_thousands};
use super::super::statistics::percentile;
use super::page_server::{PLAYERS, PageServer};

const SCREENS: usize = 1_000;
const EVENTS: usize = 40;
const BETWEEN_EVENTS: Duration = Duration::from_millis(250);
/// A screen that waits longer for an event has missed it.
const WAIT_MAX: Duration = Duration::from_secs(10);
const MILLISECONDS_MAX: f64 = 200.0;
/// A reader waits in the kernel nearly always.
const STACK_BYTES: usize = 128 << 10;

pub(super) fn measure(server: &PageServer) -> anyhow::Result<Vec<BenchTarget>> {
    let screens = (0..SCREENS).map(|number| Screen::open(server, number)).collect::<anyhow::Result<Vec<_>>>()?;
    let (sent, seen) = thread::scope(|scope| {
        let mut readers = Vec::with_capacity(SCREENS);
        for screen in screens {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            readers.push(thread.spawn_scoped(scope, || screen.read_events())?);
        }
        let sent = store_events(server)?;
        let seen = readers.into_iter().map(|reader| reader.join().map_err(|_| anyhow!("a screen panicked")));
        Ok::<_, anyhow::Error>((sent, seen.collect::<anyhow::Result<Vec<_>>>()?))
    })?;
    Ok(report(&sent, &seen))
}

/// Stores one note after the other. Returns when each was sent.
fn store_events(server: &PageServer) -> anyhow::Result<Vec<Instant>> {
    let mut connection = Connection::open(server.server.address)?;
    let mut sent = Vec::with_capacity(EVENTS);
    for number in 0..EVENTS {
        sent.push(Instant::now());
        server.take_note(&mut connection, &event_text(number))?;
        thread::sleep(BETWEEN_EVENTS);
    }
    Ok(sent)
}

fn event_text(number: usize) -> String {
    format!("Event number {number} of the bench.")
}

/// A screen's connection, after the head of the answer.
struct Screen(BufReader<TcpStream>);

impl Screen {
    fn open(server: &PageServer, number: usize) -> anyhow::Result<Self> {
        let address = server.server.address;
        let stream = TcpStream::connect(address).context("cannot connect")?;
        stream.set_read_timeout(Some(WAIT_MAX))?;
        let mut reader = BufReader::new(stream);
        let token = &server.tokens[number % PLAYERS];
        let campaign_id = &server.campaign_id;
        write!(
            reader.get_mut(),
            "GET /c/{campaign_id}/live HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
        )?;
        let mut line = String::new();
        reader.read_line(&mut line)?;
        ensure!(line.contains(" 200 "), "a screen was answered: {line}");
        // The first chunk says from where on events come: from then on none may be missed.
        while !line.starts_with("retry:") {
            line.clear();
            ensure!(reader.read_line(&mut line)? > 0, "a stream ended before it began");
        }
        Ok(Self(reader))
    }

    /// When each event was on the screen; `None` for one that did not come.
    fn read_events(mut self) -> Vec<Option<Instant>> {
        let mut seen = vec![None; EVENTS];
        let mut line = Vec::new();
        while seen.contains(&None) {
            line.clear();
            match self.0.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            if !line.starts_with(b"data: ") {
                continue;
            }
            let (now, text) = (Instant::now(), String::from_utf8_lossy(&line));
            for (number, seen) in seen.iter_mut().enumerate().filter(|(_, seen)| seen.is_none()) {
                // The newest comes first on the screen, and what is not there yet is not looked for again.
                if !text.contains(&event_text(number)) {
                    break;
                }
                *seen = Some(now);
            }
        }
        seen
    }
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn report(sent: &[Instant], seen: &[Vec<Option<Instant>>]) -> Vec<BenchTarget> {
    let pairs = seen.iter().flat_map(|screen| sent.iter().zip(screen));
    let mut late: Vec<Duration> =
        pairs.clone().filter_map(|(sent, seen)| Some((*seen)?.saturating_duration_since(*sent))).collect();
    late.sort_unstable();
    let missed = pairs.filter(|(_, seen)| seen.is_none()).count() as f64;
    let milliseconds = |share| percentile(&late, share).as_secs_f64() * 1e3;
    let mut table = ReportTable::new(
        format!("{EVENTS} events on {SCREENS} screens of {PLAYERS} players, from sending the command to the screen"),
        &["arrived", "missed", "p50", "p99", "slowest"],
    );
    let figures = [0.5, 0.99, 1.0].map(|share| format!("{:.1} ms", milliseconds(share)));
    table.add_row([&[group_thousands(late.len() as f64), group_thousands(missed)], &figures[..]].concat());
    table.print();
    vec![
        BenchTarget::at_most("events missed by a thousand screens", missed, 0.0, "events"),
        BenchTarget::at_most(
            "an event on the slowest of a thousand screens",
            milliseconds(1.0),
            MILLISECONDS_MAX,
            "ms",
        ),
    ]
}
