//! HTTP load generator: keep-alive HTTP/1.1 clients, several at once.
//!
//! The number of calls is fixed, not the time, so that the server's work can be divided by it exactly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail, ensure};

use super::call_mode::{self, CallMode, FIRST_ID, RepeatedCall, Template};
use super::statistics::percentile;

/// A server that is silent for this long has failed.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// Far more than any answer of the benchmark; a server that sends more is broken.
const ANSWER_BYTES_MAX: usize = 1 << 26;
const MEDIAN: f64 = 0.5;
const TAIL: f64 = 0.99;

/// The rate and latencies that the clients measured.
#[derive(Debug)]
pub(crate) struct Load {
    pub calls: u32,
    pub wall: Duration,
    pub p50: Duration,
    pub p99: Duration,
}

impl Load {
    pub(crate) fn calls_per_second(&self) -> f64 {
        f64::from(self.calls) / self.wall.as_secs_f64()
    }
}

/// Opens connections that are ready to call; in session mode each has a session of its own.
pub(crate) fn open_clients(address: SocketAddr, mode: CallMode, connections: u32) -> anyhow::Result<Vec<LoadClient>> {
    open_clients_for(address, mode, connections, &RepeatedCall::judge_dice())
}

/// Like [`open_clients`], for another call than the one that all servers can answer.
pub(crate) fn open_clients_for(
    address: SocketAddr,
    mode: CallMode,
    connections: u32,
    call: &RepeatedCall,
) -> anyhow::Result<Vec<LoadClient>> {
    (0..connections).map(|_| LoadClient::open(address, mode, call)).collect()
}

/// Runs all clients at once, each with this many calls.
pub(crate) fn run_clients(callers: &mut [LoadClient], calls_each: u32) -> anyhow::Result<Load> {
    let started = Instant::now();
    let finished: Vec<anyhow::Result<Vec<Duration>>> = thread::scope(|scope| {
        let threads: Vec<_> =
            callers.iter_mut().map(|caller| scope.spawn(move || caller.call_repeatedly(calls_each))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a client panicked")))).collect()
    });
    let wall = started.elapsed();
    let mut times = Vec::new();
    for of_one in finished {
        times.extend(of_one?);
    }
    times.sort_unstable();
    Ok(Load {
        calls: u32::try_from(times.len())?,
        wall,
        p50: percentile(&times, MEDIAN),
        p99: percentile(&times, TAIL),
    })
}

/// One client: a connection and the call that it repeats.
pub(crate) struct LoadClient {
    connection: Connection,
    template: Template,
    expected_text: &'static str,
    request: Vec<u8>,
    next_id: u32,
}

impl LoadClient {
    fn open(address: SocketAddr, mode: CallMode, call: &RepeatedCall) -> anyhow::Result<Self> {
        let mut connection = Connection::open(address)?;
        let session = match mode {
            CallMode::Session => Some(open_session(address, &mut connection, call)?),
            CallMode::Stateless | CallMode::Modern => None,
        };
        Ok(Self {
            connection,
            template: call_mode::call_template(address, mode, session.as_deref(), call),
            expected_text: call.expected_text,
            request: Vec::new(),
            next_id: FIRST_ID,
        })
    }

    fn call_repeatedly(&mut self, calls: u32) -> anyhow::Result<Vec<Duration>> {
        (0..calls).map(|_| self.call()).collect()
    }

    fn call(&mut self) -> anyhow::Result<Duration> {
        self.request.clear();
        self.request.extend_from_slice(&self.template.before_id);
        write!(self.request, "{}", self.next_id)?;
        self.request.extend_from_slice(&self.template.after_id);
        self.next_id += 1;
        let started = Instant::now();
        self.connection.exchange(&self.request)?;
        let took = started.elapsed();
        let answer = std::str::from_utf8(&self.connection.body).context("an answer is not text")?;
        ensure!(answer.contains(self.expected_text), "a call was answered: {answer}");
        Ok(took)
    }
}

fn open_session(address: SocketAddr, connection: &mut Connection, call: &RepeatedCall) -> anyhow::Result<String> {
    connection.exchange(&call_mode::initialize_request(address, call))?;
    let session = connection.session.clone().context("the answer to initialize has no session")?;
    connection.exchange(&call_mode::initialized_request(address, &session, call))?;
    Ok(session)
}

/// A connection, with the body and the session id of its last answer.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
    pub body: Vec<u8>,
    pub session: Option<String>,
    /// Bytes of all answers until now, heads and bodies.
    pub received_bytes: usize,
}

/// How the end of an answer's body is known.
enum Framing {
    Length(usize),
    Chunked,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).context("cannot connect")?;
        // Without TCP_NODELAY, a request may wait for the acknowledgement of the one before.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE_MAX))?;
        stream.set_write_timeout(Some(SILENCE_MAX))?;
        Ok(Self {
            stream: BufReader::new(stream),
            line: String::new(),
            body: Vec::new(),
            session: None,
            received_bytes: 0,
        })
    }

    /// Sends a request and reads the whole answer, so that the next request can follow.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.stream.get_mut().write_all(request).context("cannot send")?;
        self.body.clear();
        self.read_line()?;
        let status = self.line.split(' ').nth(1).unwrap_or_default().to_owned();
        match self.read_head()? {
            Framing::Length(length) => self.read_body(length)?,
            Framing::Chunked => self.read_chunks()?,
        }
        if !status.starts_with('2') {
            bail!("status {status}: {}", String::from_utf8_lossy(&self.body));
        }
        Ok(())
    }

    fn read_line(&mut self) -> anyhow::Result<()> {
        self.line.clear();
        self.received_bytes += self.stream.read_line(&mut self.line).context("cannot receive")?;
        ensure!(self.line.ends_with("\r\n"), "the server closed the connection");
        self.line.truncate(self.line.trim_end().len());
        Ok(())
    }

    fn read_head(&mut self) -> anyhow::Result<Framing> {
        // An answer without a body, such as 202, may leave its length out.
        let mut framing = Framing::Length(0);
        loop {
            self.read_line()?;
            if self.line.is_empty() {
                return Ok(framing);
            }
            let (name, value) = self.line.split_once(':').context("a header has no colon")?;
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                framing = Framing::Length(value.parse().context("the length is no number")?);
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                ensure!(value.eq_ignore_ascii_case("chunked"), "unknown encoding {value:?}");
                framing = Framing::Chunked;
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                self.session = Some(value.to_owned());
            }
        }
    }

    fn read_body(&mut self, length: usize) -> anyhow::Result<()> {
        let start = self.body.len();
        let end = start.saturating_add(length);
        ensure!(end <= ANSWER_BYTES_MAX, "an answer is longer than {ANSWER_BYTES_MAX} bytes");
        self.body.resize(end, 0);
        self.received_bytes += length;
        self.stream.read_exact(&mut self.body[start..]).context("an answer was cut off")
    }

    fn read_chunks(&mut self) -> anyhow::Result<()> {
        loop {
            self.read_line()?;
            let length = usize::from_str_radix(&self.line, 16).context("a chunk has no length")?;
            self.read_body(length)?;
            self.read_line()?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    fn exchange_with(answer: &'static str) -> (anyhow::Result<()>, Vec<u8>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut connection = Connection::open(listener.local_addr().unwrap()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        (connection.exchange(b"x"), connection.body)
    }

    #[test]
    fn reads_an_answer_of_known_length() {
        let (outcome, body) = exchange_with("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nyesmore");
        assert!(outcome.is_ok());
        assert_eq!(body, b"yes");
    }

    #[test]
    fn joins_the_chunks_of_an_answer() {
        let (outcome, body) =
            exchange_with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nye\r\n1\r\ns\r\n0\r\n\r\n");
        assert!(outcome.is_ok());
        assert_eq!(body, b"yes");
    }

    #[test]
    fn tells_what_a_refusal_said() {
        let (outcome, _) = exchange_with("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
        assert_eq!(outcome.unwrap_err().to_string(), "status 404: gone");
    }
}
