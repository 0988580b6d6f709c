-- A large snapshot is kept in parts. The first is the body of its row; the others are here, under a mark that no other
-- snapshot of the stream has. Those that no row speaks of are of a snapshot that is being kept, or never was.
ALTER TABLE snapshots ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE snapshots ADD COLUMN parts INTEGER NOT NULL DEFAULT 1;
CREATE TABLE snapshot_parts (
    stream TEXT NOT NULL,
    mark INTEGER NOT NULL,
    part INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (stream, mark, part)
) STRICT;
