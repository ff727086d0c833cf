/// The tables of the store: numbered steps that only lead forward.
enum StoreSchema {
    /// `PRAGMA application_id` of a store: "DICT".
    static let applicationID = 0x4449_4354

    /// The steps; step n leads from schema n to schema n + 1.
    ///
    /// Never change a released one.
    ///
    /// `PRAGMA user_version` counts the steps taken. During a hand-over a process of the release before reads
    /// the same file until it ends, so a step keeps every table and column that this release reads.
    static let steps = [
        // Bodies have a table of their own, so that reading the versions reads no body. No index is ordered
        // by a digest alone: it would place each new row on a different page, where the other trees take a
        // whole batch on a few. The triggers remove unreferenced rows, also when rows are deleted by hand.
        """
        CREATE TABLE chain (
            id INTEGER PRIMARY KEY,
            authority TEXT NOT NULL,
            scope TEXT NOT NULL,
            "match" TEXT NOT NULL,
            match_dest TEXT NOT NULL, -- each followed by a line feed
            UNIQUE (authority, scope, "match", match_dest)
        ) STRICT;
        CREATE TABLE body (
            id INTEGER PRIMARY KEY,
            bytes BLOB NOT NULL
        ) STRICT;
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
            admitted INTEGER NOT NULL, -- seconds since 1970, like the next
            last_wanted INTEGER NOT NULL,
            max_age INTEGER NOT NULL,
            UNIQUE (chain, url, variant, digest)
        ) STRICT;
        CREATE INDEX version_body ON version (body);
        CREATE TRIGGER version_deleted AFTER DELETE ON version BEGIN
            DELETE FROM body WHERE id = old.body AND NOT EXISTS (SELECT 1 FROM version WHERE body = old.body);
            DELETE FROM chain WHERE id = old.chain AND NOT EXISTS (SELECT 1 FROM version WHERE chain = old.chain);
        END;
        """,
        // Versions that Links name stay until then.
        """
        ALTER TABLE version ADD COLUMN pinned_until INTEGER NOT NULL DEFAULT 0; -- seconds since 1970
        """,
        // The log of changed rows that a process reads to follow the others on the file. The writer keeps it
        // short; a reader that has missed the beginning reads everything.
        """
        CREATE TABLE change (
            sequence INTEGER PRIMARY KEY, -- one more than the last
            version INTEGER NOT NULL -- its row may be gone
        ) STRICT;
        CREATE TRIGGER version_made_change AFTER INSERT ON version BEGIN
            INSERT INTO change (version) VALUES (new.id);
        END;
        CREATE TRIGGER version_renewed_change AFTER UPDATE ON version BEGIN
            INSERT INTO change (version) VALUES (new.id);
        END;
        CREATE TRIGGER version_removed_change AFTER DELETE ON version BEGIN
            INSERT INTO change (version) VALUES (old.id);
        END;
        -- Whether the upstream itself said what the body is a dictionary for, in its own Use-As-Dictionary.
        ALTER TABLE version ADD COLUMN is_upstream_match INTEGER NOT NULL DEFAULT 0;
        """,
        // Private routes have tables of their own, so that no query of public rows can reach them. Names are
        // HMACs, `facts` and `sealed` are AES-256-GCM, all under the key of `store.key_file`.
        """
        CREATE TABLE private_chain (
            id INTEGER PRIMARY KEY,
            name BLOB NOT NULL UNIQUE,
            facts BLOB NOT NULL -- authority, identity, match and match-dest
        ) STRICT;
        CREATE TABLE private_version (
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
            UNIQUE (chain, url, variant, name)
        ) STRICT;
        CREATE TABLE private_body (
            id INTEGER PRIMARY KEY REFERENCES private_version, -- one for each version
            sealed BLOB NOT NULL
        ) STRICT;
        CREATE TRIGGER private_version_deleted BEFORE DELETE ON private_version BEGIN
            DELETE FROM private_body WHERE id = old.id;
        END;
        CREATE TRIGGER private_chain_unused AFTER DELETE ON private_version BEGIN
            DELETE FROM private_chain WHERE id = old.chain
                AND NOT EXISTS (SELECT 1 FROM private_version WHERE chain = old.chain);
        END;
        """,
        // The response head in wire form, with which the upstream can be asked to revalidate.
        "ALTER TABLE version ADD COLUMN head BLOB",
        // A chain in probation has 0. The chains of an older store keep their versions.
        """
        ALTER TABLE chain ADD COLUMN established INTEGER NOT NULL DEFAULT 1;
        """,
        // Private versions are followed as public ones are; a number is in one of the tables only. A process
        // of the release before takes such a number for a removed row: it stops using that version, and no
        // other.
        """
        CREATE TRIGGER private_version_made_change AFTER INSERT ON private_version BEGIN
            INSERT INTO change (version) VALUES (new.id);
        END;
        CREATE TRIGGER private_version_renewed_change AFTER UPDATE ON private_version BEGIN
            INSERT INTO change (version) VALUES (new.id);
        END;
        CREATE TRIGGER private_version_removed_change AFTER DELETE ON private_version BEGIN
            INSERT INTO change (version) VALUES (old.id);
        END;
        ALTER TABLE private_version ADD COLUMN is_upstream_match INTEGER NOT NULL DEFAULT 0; -- as of a public one
        """,
        // One process writes, so nobody follows changes any more. The table stays, empty, for a process of
        // the release before, which reads it during a hand-over.
        """
        DROP TRIGGER version_made_change;
        DROP TRIGGER version_renewed_change;
        DROP TRIGGER version_removed_change;
        DROP TRIGGER private_version_made_change;
        DROP TRIGGER private_version_renewed_change;
        DROP TRIGGER private_version_removed_change;
        DELETE FROM change;
        CREATE TABLE removal ( -- what commands ask the process that writes to remove
            version INTEGER PRIMARY KEY,
            last_wanted INTEGER, -- only while the row says no more than this, like the next two; NULL: in any case
            rank INTEGER,
            pinned_until INTEGER
        ) STRICT;
        """,
        // Bodies as Zstandard frames, most of them over another body, which stays as long as a frame needs
        // it; and the holder counts of the versions.
        """
        ALTER TABLE body ADD COLUMN size INTEGER; -- of the whole body, where `bytes` are a frame
        ALTER TABLE body ADD COLUMN base INTEGER REFERENCES body; -- a body with no base of its own
        CREATE INDEX body_base ON body (base) WHERE base IS NOT NULL;
        ALTER TABLE private_body ADD COLUMN size INTEGER; -- as of a public one
        DROP TRIGGER version_deleted;
        CREATE TRIGGER version_deleted AFTER DELETE ON version BEGIN
            DELETE FROM body WHERE id = old.body AND NOT EXISTS (SELECT 1 FROM version WHERE body = old.body)
                AND NOT EXISTS (SELECT 1 FROM body AS packed WHERE packed.base = old.body);
            DELETE FROM chain WHERE id = old.chain AND NOT EXISTS (SELECT 1 FROM version WHERE chain = old.chain);
        END;
        CREATE TRIGGER packed_body_deleted AFTER DELETE ON body WHEN old.base IS NOT NULL BEGIN
            DELETE FROM body WHERE id = old.base AND NOT EXISTS (SELECT 1 FROM version WHERE body = old.base)
                AND NOT EXISTS (SELECT 1 FROM body AS packed WHERE packed.base = old.base);
        END;
        ALTER TABLE version ADD COLUMN holders INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE version ADD COLUMN last_offered INTEGER NOT NULL DEFAULT 0; -- seconds since 1970, like the next
        ALTER TABLE version ADD COLUMN last_advertised INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE version ADD COLUMN is_proven INTEGER NOT NULL DEFAULT 1; -- somebody has come back for it
        ALTER TABLE private_version ADD COLUMN holders INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE private_version ADD COLUMN last_offered INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE private_version ADD COLUMN last_advertised INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE private_version ADD COLUMN is_proven INTEGER NOT NULL DEFAULT 1;
        """,
        // The stored size of a private body, which could otherwise only be found by reading the bodies.
        "ALTER TABLE private_version ADD COLUMN stored INTEGER",  // NULL: about `size`
        // The ids that were given out before the body was complete, as `PromisedIDs` encodes them; NULL: none.
        """
        ALTER TABLE version ADD COLUMN promises BLOB;
        ALTER TABLE private_version ADD COLUMN promises BLOB;
        """,
    ]
}
