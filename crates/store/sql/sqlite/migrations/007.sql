-- The search index. It keeps words and no texts; `place` is the number of a row in it: partition << 34 | class << 32 | serial,
-- so that what a caller may see of a campaign is one range for each class. The words were split by the program, and are
-- parted by spaces. `frequent` has the words that occur at least three times in the body.
-- This may run twice: a store whose tokens are rows stays at version 4 until they are events, with the tables of the newest
-- version.
CREATE VIRTUAL TABLE IF NOT EXISTS search_words
USING fts5 (name, extra, frequent, body, content = '', contentless_delete = 1, tokenize = 'ascii');

-- The number of each partition of a collection.
CREATE TABLE IF NOT EXISTS search_partitions (
    number INTEGER NOT NULL PRIMARY KEY,
    collection TEXT NOT NULL,
    partition TEXT NOT NULL,
    UNIQUE (collection, partition)
) STRICT;

-- Which document has which place in the index, with a digest of its texts.
CREATE TABLE IF NOT EXISTS search_rows (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    shard INTEGER NOT NULL,
    stream TEXT NOT NULL,
    place INTEGER NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    PRIMARY KEY (collection, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS search_rows_by_stream ON search_rows (stream, collection, id);
