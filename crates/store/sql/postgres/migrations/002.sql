-- A large snapshot is kept in parts. The first is the body of its row; the others are here, under a mark that no other
-- snapshot of the stream has. Those that no row speaks of are of a snapshot that is being kept, or never was.
ALTER TABLE snapshots ADD COLUMN mark bigint NOT NULL DEFAULT 0, ADD COLUMN parts integer NOT NULL DEFAULT 1;
CREATE TABLE snapshot_parts (
    stream text COLLATE "C" NOT NULL,
    mark bigint NOT NULL,
    part integer NOT NULL,
    shard integer NOT NULL,
    revision bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (stream, mark, part)
);
