// Opens a stream of server-sent events, and opens it again when it breaks: with a growing delay, when the network returns,
// and when a hidden tab is shown again. A bar over the page says since when nothing arrives, or that the session has ended.

import { hideBar, showBar, showSignedOut } from "./answers.js";

const FIRST_DELAY = 500;
const LONGEST_DELAY = 30000;
// A gap that is shorter is not worth a word.
const SHOWN_AFTER = 1500;
// The server says something every 20 seconds at least.
const SILENT_FOR = 60000;
const PAUSED_AFTER = 10000;

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });

// Reads the lines of a stream, and calls `use` with each event.
async function readEvents(body, use, onBytes) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", data = [], name = "", id = null;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const [, field, text] = line.match(/^([^:]*):? ?(.*?)\r?$/s);
      if (field === "data") data.push(text);
      else if (field === "event") name = text;
      else if (field === "id") id = text;
      else if (field === "" && !line.startsWith(":")) {
        if (data.length > 0 || id !== null) use({ name: name || "message", data: data.join("\n"), hasData: data.length > 0, id });
        data = [];
        name = "";
        id = null;
      }
    }
  }
}

// Calls `onEvent` with each event, and `onOpen` whenever the stream begins again.
export function openStream(address, { onEvent, onOpen }) {
  let lastId = "", attempt = 0, since = null, control = null, retry = 0, notice = 0, silence = 0, pause = 0;
  // `isOver` once the server has refused the stream; `isSignedOut` if it did because the session has ended.
  let isOver = false, isSignedOut = false;

  function lost() {
    since ??= new Date();
    clearTimeout(notice);
    const show = () => showBar(`Not connected since ${clock.format(since)}; what you type is kept.`);
    if (navigator.onLine) notice = setTimeout(show, SHOWN_AFTER);
    else show();
  }

  function connected() {
    attempt = 0;
    since = null;
    clearTimeout(notice);
    hideBar();
  }

  function stop() {
    clearTimeout(retry);
    clearTimeout(silence);
    const running = control;
    control = null;
    running?.abort();
  }

  function end(show) {
    isOver = true;
    stop();
    clearTimeout(notice);
    show();
  }

  function later(atLeast = 0) {
    lost();
    const delay = Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY) * (0.7 + Math.random() * 0.6);
    attempt += 1;
    clearTimeout(retry);
    retry = setTimeout(connect, Math.max(delay, atLeast));
  }

  function refused(answer) {
    if (answer.status === 401) {
      const next = encodeURIComponent(location.pathname + location.search);
      isSignedOut = true;
      end(() => showSignedOut(`/sign-in?next=${next}`));
    } else if (answer.status === 403 || answer.status === 404) {
      end(() => showBar("This page is no longer there for you; what you typed is kept.", { href: "/", textContent: "Home" }));
    } else {
      later(Number(answer.headers.get("retry-after") ?? 0) * 1000);
    }
  }

  async function connect() {
    if (isOver || control) return;
    clearTimeout(retry);
    const own = new AbortController();
    control = own;
    const listen = () => {
      clearTimeout(silence);
      silence = setTimeout(() => own.abort(), SILENT_FOR);
    };
    listen();
    try {
      const headers = { accept: "text/event-stream" };
      if (lastId) headers["last-event-id"] = lastId;
      const answer = await fetch(address, { headers, signal: own.signal, cache: "no-store" });
      if (!answer.ok) { control = null; refused(answer); return; }
      connected();
      onOpen?.();
      await readEvents(answer.body, (event) => {
        if (event.id !== null) lastId = event.id;
        if (event.hasData) onEvent(event);
      }, listen);
    } catch {
      // The connection broke, or was closed below: both go on here.
    }
    clearTimeout(silence);
    if (control !== own) return;
    control = null;
    if (!isOver) later();
  }

  function reconnect() {
    if (isOver) return;
    stop();
    attempt = 0;
    connect();
  }

  // The visitor may have signed in elsewhere meanwhile.
  function retryRefused() {
    if (isSignedOut) isOver = false;
    isSignedOut = false;
    reconnect();
  }

  addEventListener("online", reconnect);
  addEventListener("offline", () => { since ??= new Date(); showBar(`Not connected since ${clock.format(since)}; what you type is kept.`); });
  addEventListener("pagehide", stop);
  // The browser shows the page as it was left, with a stream that has ended.
  addEventListener("pageshow", (event) => { if (event.persisted) retryRefused(); });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(pause);
    if (document.hidden) pause = setTimeout(() => { if (document.hidden) stop(); }, PAUSED_AFTER);
    else if (isSignedOut) retryRefused();
    else if (!control || since) reconnect();
  });
  connect();
}
