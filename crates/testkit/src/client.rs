//! A blocking HTTP/1.1 client that adds no headers of its own but `Host` and `Content-Length`.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::Frame;

/// How long a test waits for an answer that should have come at once.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// One kept-alive connection.
pub struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

/// A complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The frames of an event stream, read strictly.
    pub fn frames(&self) -> Vec<Frame> {
        let text = self.text();
        assert!(text.is_empty() || text.ends_with("\n\n"), "the last frame is cut: {text:?}");
        text.split_terminator("\n\n").filter_map(Frame::parse).collect()
    }

    /// The body as JSON: the body itself, or the response in its event stream.
    pub fn json(&self) -> Value {
        let is_stream = self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let text = self.text();
        let json = if is_stream {
            let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
            data.rfind(|data| !data.is_empty()).unwrap_or_default().to_owned()
        } else {
            text
        };
        serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error} in {} {json:?}", self.status))
    }
}

fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a TCP option");
        stream.set_read_timeout(Some(READ_TIMEOUT)).expect("a socket option");
        Self { address, stream: BufReader::new(stream) }
    }

    /// Sends a request and reads the whole answer.
    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.try_send(method, path, headers, body).expect("the server answers")
    }

    pub fn try_send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<Reply> {
        self.write(method, path, headers, body)?;
        let (status, headers) = read_head(&mut self.stream)?;
        let mut body = Vec::new();
        if method == "HEAD" {
            return Ok(Reply { status, headers, body });
        }
        if find_header(&headers, "transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            while let Some(chunk) = read_chunk(&mut self.stream)? {
                body.extend_from_slice(&chunk);
            }
        } else if let Some(length) = find_header(&headers, "content-length").and_then(|length| length.parse().ok()) {
            body.resize(length, 0);
            self.stream.read_exact(&mut body)?;
        }
        Ok(Reply { status, headers, body })
    }

    /// Sends a request and returns the event stream that answers it.
    pub fn open(mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> EventStream {
        self.write(method, path, headers, body).expect("the server listens");
        let (status, headers) = read_head(&mut self.stream).expect("the server answers");
        EventStream {
            status,
            kind: find_header(&headers, "content-type").unwrap_or_default().to_owned(),
            headers,
            stream: self.stream,
            buffer: String::new(),
            is_at_end: false,
        }
    }

    fn write(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<()> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        if find_request_header(headers, "host").is_none() {
            let _ = write!(head, "Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !body.is_empty() || method == "POST" {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)
    }
}

fn find_request_header<'a>(headers: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

type ResponseHead = (u16, Vec<(String, String)>);

fn read_head(stream: &mut impl BufRead) -> io::Result<ResponseHead> {
    let first = read_line(stream)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?;
        match line.split_once(':') {
            Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            None => return Ok((status, headers)),
        }
    }
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// The next chunk of a chunked body; `None` at its end.
fn read_chunk(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let size = read_line(stream)?;
    let size = usize::from_str_radix(&size, 16).map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let mut chunk = vec![0; size];
    stream.read_exact(&mut chunk)?;
    read_line(stream)?;
    Ok((size > 0).then_some(chunk))
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub event: String,
    pub id: Option<String>,
    pub data: Value,
}

/// Messages of an event stream, as they come.
pub struct EventStream {
    pub status: u16,
    pub kind: String,
    headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    buffer: String,
    is_at_end: bool,
}

impl EventStream {
    /// The first message, whether it comes in a stream or as a whole body.
    pub fn first_message(&mut self) -> Option<Value> {
        let Some(length) = find_header(&self.headers, "content-length").and_then(|length| length.parse().ok()) else {
            return self.next();
        };
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        serde_json::from_slice(&body).ok()
    }

    /// Whether the server has ended the stream. False if a read only timed out.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Sets the timeout for the next messages.
    pub fn set_read_timeout(&mut self, timeout: Duration) {
        self.stream.get_ref().set_read_timeout(Some(timeout)).expect("a socket option");
    }

    /// The next event or comment as it was sent, without the empty line; `None` once the stream has ended.
    pub fn next_block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.find("\n\n") {
                let block = self.buffer.drain(..end + 2).collect::<String>();
                return Some(block.trim_end().to_owned());
            }
            let Some(chunk) = read_chunk(&mut self.stream).ok()? else {
                self.is_at_end = true;
                return None;
            };
            self.buffer.push_str(&String::from_utf8_lossy(&chunk));
        }
    }

    /// The next frame, read strictly; `None` once the stream has ended.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = Frame::parse(&self.next_block()?) {
                return Some(frame);
            }
        }
    }

    /// The next event by its fields. Blocks without `event` or `data` are skipped.
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            let block = self.next_block()?;
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if let (Some(event), Some(data)) = (field("event:"), field("data:")) {
                let data = serde_json::from_str(data).expect("an event is JSON");
                return Some(Event { event: event.to_owned(), id: field("id:").map(str::to_owned), data });
            }
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }

    /// The session that the answer opened.
    pub fn session_id(&self) -> Option<String> {
        find_header(&self.headers, "mcp-session-id").map(str::to_owned)
    }
}

impl Iterator for EventStream {
    type Item = Value;

    /// The next JSON-RPC message, or `None` once the stream has ended. Empty events and comments are skipped.
    fn next(&mut self) -> Option<Value> {
        loop {
            let event = self.next_block()?;
            let data: String = event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).expect("an event is JSON"));
            }
        }
    }
}
