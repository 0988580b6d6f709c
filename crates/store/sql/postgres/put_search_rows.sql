-- Nothing happens unless the head is where the documents were made for.
WITH held AS (
    SELECT stream, shard FROM heads WHERE stream = $1 AND hash = $2 AND revision = $3 FOR UPDATE
), put AS (
    INSERT INTO search_rows (collection, id, shard, stream, partition, serial, class, words, words_hash, runs, digest)
    SELECT w.collection, w.id, held.shard, held.stream, w.partition, w.serial, w.class, w.words::tsvector,
        sha256(convert_to(w.words::tsvector::text, 'UTF8')), w.runs, w.digest
    FROM unnest($4::text[], $5::text[], $6::text[], $7::bigint[], $8::smallint[], $9::text[], $10::text[], $11::bytea[])
        AS w (collection, id, partition, serial, class, words, runs, digest), held
    ON CONFLICT (collection, id) DO UPDATE
    SET shard = excluded.shard, stream = excluded.stream, partition = excluded.partition, serial = excluded.serial,
        class = excluded.class, words = excluded.words, words_hash = excluded.words_hash, runs = excluded.runs,
        digest = excluded.digest
)
SELECT count(*) FROM held
