-- A digest of a snapshot's text and of the record that it is of. One without it is not opened.
ALTER TABLE snapshots ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
