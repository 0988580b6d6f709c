-- One statement for the batches of many streams. A stream whose head is not where its batch expects it, or one of whose
-- keys was answered already, is left alone; the streams that were appended to are answered. They are taken in order, so
-- that two nodes never wait for each other.
WITH wanted AS (
    SELECT *
    FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[])
        AS w (stream, shard, expected, previous, revision, hash)
), asked AS (
    SELECT *
    FROM unnest($15::text[], $16::text[], $17::bytea[], $18::bigint[], $19::text[])
        AS a (stream, key, request, revision, answer)
), answered AS (
    SELECT c.stream FROM asked a JOIN commands c ON c.stream = a.stream AND c.key = a.key
), appended AS (
    INSERT INTO heads (stream, shard, revision, previous, hash)
    SELECT w.stream, w.shard, w.revision, w.previous, w.hash
    FROM wanted w
    WHERE w.stream NOT IN (SELECT stream FROM answered)
        AND (w.expected = 0 OR EXISTS (SELECT 1 FROM heads h WHERE h.stream = w.stream AND h.revision = w.expected))
    ORDER BY w.stream
    ON CONFLICT (stream) DO UPDATE
    SET revision = excluded.revision, previous = excluded.previous, hash = excluded.hash
    WHERE heads.hash = excluded.previous
    RETURNING stream, shard
), added_records AS (
    INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash, answer)
    SELECT shard, stream, revision, kind, at, by, body, previous, hash, answer
    FROM unnest($7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::text[], $12::text[], $13::bytea[], $14::bytea[],
            $28::bytea[])
        WITH ORDINALITY AS r (stream, revision, kind, at, by, body, previous, hash, answer, place)
    JOIN appended USING (stream)
    ORDER BY place
), added_commands AS (
    INSERT INTO commands (stream, key, shard, request, revision, answer)
    SELECT stream, key, shard, request, revision, answer FROM asked JOIN appended USING (stream)
), put_side_rows AS (
    INSERT INTO shelf (kind, key, body)
    SELECT DISTINCT ON (r.kind, r.key) r.kind, r.key, r.body
    FROM unnest($30::text[], $31::text[], $32::text[], $33::text[]) AS r (stream, kind, key, body)
    JOIN appended AS a ON a.stream = r.stream
    ORDER BY r.kind, r.key
    ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body
), put_documents AS (
    INSERT INTO documents (collection, id, shard, stream, rank, body, partition)
    SELECT p.collection, p.id, a.shard, p.stream, p.rank, p.body, p.partition
    FROM unnest($20::text[], $21::text[], $22::text[], $23::bigint[], $24::text[], $29::text[])
        AS p (stream, collection, id, rank, body, partition)
    JOIN appended AS a ON a.stream = p.stream
    ON CONFLICT (collection, id) DO UPDATE
    SET shard = excluded.shard, stream = excluded.stream, rank = excluded.rank, body = excluded.body,
        partition = excluded.partition
), deleted_documents AS (
    DELETE FROM documents d
    USING unnest($25::text[], $26::text[], $27::text[]) AS x (stream, collection, id) JOIN appended USING (stream)
    WHERE d.collection = x.collection AND d.id = x.id
), removed_side_rows AS (
    DELETE FROM shelf s
    USING unnest($34::text[], $35::text[], $36::text[]) AS x (stream, kind, key) JOIN appended USING (stream)
    WHERE s.kind = x.kind AND s.key = x.key
), put_search_rows AS (
    INSERT INTO search_rows (collection, id, shard, stream, partition, serial, class, words, words_hash, runs, digest)
    SELECT w.collection, w.id, a.shard, w.stream, w.partition, w.serial, w.class, w.words::tsvector,
        sha256(convert_to(w.words::tsvector::text, 'UTF8')), w.runs, w.digest
    FROM unnest($37::text[], $38::text[], $39::text[], $40::text[], $41::bigint[], $42::smallint[], $43::text[], $44::text[],
            $45::bytea[])
        AS w (stream, collection, id, partition, serial, class, words, runs, digest)
    JOIN appended AS a ON a.stream = w.stream
    ON CONFLICT (collection, id) DO UPDATE
    SET shard = excluded.shard, stream = excluded.stream, partition = excluded.partition, serial = excluded.serial,
        class = excluded.class, words = excluded.words, words_hash = excluded.words_hash, runs = excluded.runs,
        digest = excluded.digest
    -- A document whose texts are as before costs nothing in the index.
    WHERE search_rows.digest <> excluded.digest
), deleted_search_rows AS (
    DELETE FROM search_rows s
    USING unnest($46::text[], $47::text[], $48::text[]) AS x (stream, collection, id) JOIN appended USING (stream)
    WHERE s.collection = x.collection AND s.id = x.id
)
SELECT stream FROM appended
