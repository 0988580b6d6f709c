-- Where each stream ends. An append moves it, or does not happen.
CREATE TABLE heads (
    stream TEXT NOT NULL PRIMARY KEY,
    shard INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened. The position orders all streams: writers take turns, so it grows in the order of commits.
CREATE TABLE records (
    position INTEGER NOT NULL PRIMARY KEY,
    shard INTEGER NOT NULL,
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    body TEXT NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (stream, revision)
) STRICT;

-- What was answered under which key.
CREATE TABLE commands (
    stream TEXT NOT NULL,
    key TEXT NOT NULL,
    shard INTEGER NOT NULL,
    request BLOB NOT NULL,
    revision INTEGER NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (stream, key)
) STRICT, WITHOUT ROWID;

-- Read models: made from the records, and made again whenever somebody asks.
CREATE TABLE documents (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    shard INTEGER NOT NULL,
    stream TEXT NOT NULL,
    rank INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (collection, id)
) STRICT;
CREATE INDEX documents_by_rank ON documents (collection, rank DESC, id);
CREATE INDEX documents_by_stream ON documents (stream, collection, id);

-- States, so that opening a stream need not read all of it. All may be deleted at any time.
CREATE TABLE snapshots (
    stream TEXT NOT NULL PRIMARY KEY,
    shard INTEGER NOT NULL,
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- What is no event: tokens, contexts.
CREATE TABLE shelf (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

-- Which process wrote last, and how often that changed: how a reader tells its own commits from others'.
CREATE TABLE writer (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    process INTEGER NOT NULL,
    turn INTEGER NOT NULL
) STRICT;
INSERT INTO writer (id, process, turn) VALUES (1, 0, 0);
