enum StoreSchema {
    /// `PRAGMA application_id` of a store: "DICT".
    static let applicationID = 0x4449_4354

    /// `PRAGMA user_version` of a store with these tables; an empty file has 0.
    static let number = 2

    /// The statements that make the tables.
    ///
    /// Bodies have a table of their own, so that reading the versions reads no body. No index is ordered by a digest
    /// alone: it would place each new row on a different page, where the other trees take a whole batch on a few. The
    /// triggers remove unreferenced rows, also when rows are deleted by hand.
    ///
    /// Versions of personal and private chains have tables of their own, so that no query of public rows can reach them. Names are
    /// HMACs, `facts` and `sealed` are AES-256-GCM, all under the key of `store.key_file`. A number of a version is in one
    /// of the two tables only.
    static let tables = """
        CREATE TABLE chain (
            id INTEGER PRIMARY KEY,
            authority TEXT NOT NULL,
            scope TEXT NOT NULL,
            "match" TEXT NOT NULL,
            match_dest TEXT NOT NULL, -- each followed by a line feed
            established INTEGER NOT NULL DEFAULT 1, -- a chain in probation has 0
            UNIQUE (authority, scope, "match", match_dest)
        ) STRICT;
        CREATE TABLE body ( -- the whole bytes, or a Zstandard frame, mostly over another body
            id INTEGER PRIMARY KEY,
            bytes BLOB NOT NULL,
            size INTEGER, -- of the whole body, where `bytes` are a frame
            base INTEGER REFERENCES body -- a body with no base of its own, which stays as long as a frame needs it
        ) STRICT;
        CREATE INDEX body_base ON body (base) WHERE base IS NOT NULL;
        CREATE TABLE version (
            id INTEGER PRIMARY KEY,
            chain INTEGER NOT NULL REFERENCES chain,
            body INTEGER NOT NULL REFERENCES body, -- several versions may have one
            digest BLOB NOT NULL, -- SHA-256 of the body
            url TEXT NOT NULL,
            variant TEXT NOT NULL,
            etag TEXT,
            content_type TEXT,
            size INTEGER NOT NULL,
            rank INTEGER NOT NULL, -- the newest of a chain has the highest
            admitted INTEGER NOT NULL, -- seconds since 1970, like all times
            last_wanted INTEGER NOT NULL,
            max_age INTEGER NOT NULL,
            pinned_until INTEGER NOT NULL DEFAULT 0, -- a version that Links name stays until then
            is_upstream_match INTEGER NOT NULL DEFAULT 0, -- the upstream's own Use-As-Dictionary has the `match`
            head BLOB, -- of the response in wire form, with which the upstream can be asked to revalidate
            holders INTEGER NOT NULL DEFAULT 1,
            last_offered INTEGER NOT NULL DEFAULT 0,
            last_advertised INTEGER NOT NULL DEFAULT 0,
            is_proven INTEGER NOT NULL DEFAULT 1, -- somebody has come back for it
            is_proven_public INTEGER NOT NULL DEFAULT 0, -- several clients got the body without a credential
            promises BLOB, -- the ids given out before the body was complete, as `PromisedIDs` encodes them
            UNIQUE (chain, url, variant, digest)
        ) STRICT;
        CREATE INDEX version_body ON version (body);
        CREATE TRIGGER version_deleted AFTER DELETE ON version BEGIN
            DELETE FROM body WHERE id = old.body AND NOT EXISTS (SELECT 1 FROM version WHERE body = old.body)
                AND NOT EXISTS (SELECT 1 FROM body AS packed WHERE packed.base = old.body);
            DELETE FROM chain WHERE id = old.chain AND NOT EXISTS (SELECT 1 FROM version WHERE chain = old.chain);
        END;
        CREATE TRIGGER packed_body_deleted AFTER DELETE ON body WHEN old.base IS NOT NULL BEGIN
            DELETE FROM body WHERE id = old.base AND NOT EXISTS (SELECT 1 FROM version WHERE body = old.base)
                AND NOT EXISTS (SELECT 1 FROM body AS packed WHERE packed.base = old.base);
        END;
        CREATE TABLE private_chain (
            id INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE,
            facts BLOB NOT NULL -- authority, identity, match and match-dest
        ) STRICT;
        CREATE TABLE private_version ( -- the columns mean what they mean for a public one
            id INTEGER PRIMARY KEY,
            chain INTEGER NOT NULL REFERENCES private_chain,
            name BLOB NOT NULL, -- of the digest, for this identity
            url TEXT NOT NULL,
            variant TEXT NOT NULL,
            etag TEXT,
            content_type TEXT,
            size INTEGER NOT NULL,
            rank INTEGER NOT NULL,
            admitted INTEGER NOT NULL,
            last_wanted INTEGER NOT NULL,
            max_age INTEGER NOT NULL,
            is_upstream_match INTEGER NOT NULL,
            stored INTEGER NOT NULL, -- the length of `sealed`, which reading the bodies alone would tell
            holders INTEGER NOT NULL,
            last_offered INTEGER NOT NULL,
            last_advertised INTEGER NOT NULL,
            is_proven INTEGER NOT NULL,
            promises BLOB,
            UNIQUE (chain, url, variant, name)
        ) STRICT;
        CREATE TABLE private_body (
            id INTEGER PRIMARY KEY REFERENCES private_version, -- one for each version
            sealed BLOB NOT NULL,
            size INTEGER
        ) STRICT;
        CREATE TRIGGER private_version_deleted BEFORE DELETE ON private_version BEGIN
            DELETE FROM private_body WHERE id = old.id;
        END;
        CREATE TRIGGER private_chain_unused AFTER DELETE ON private_version BEGIN
            DELETE FROM private_chain WHERE id = old.chain
                AND NOT EXISTS (SELECT 1 FROM private_version WHERE chain = old.chain);
        END;
        CREATE TABLE removal ( -- what commands ask the process that writes to remove
            version INTEGER PRIMARY KEY,
            last_wanted INTEGER, -- only while the row says no more than this, like the next two; NULL: in any case
            rank INTEGER,
            pinned_until INTEGER
        ) STRICT;
        """
}
