-- Documents that a role or a session can search. A document stands here once, whoever uses it;
-- owners are "session:ID" and "role:PROJECT:NAME".
CREATE TABLE documents (
  n        INTEGER PRIMARY KEY,
  path     TEXT NOT NULL UNIQUE, -- absolute path, or address
  title    TEXT NOT NULL,
  hash     TEXT NOT NULL,
  size     INTEGER NOT NULL,
  modified INTEGER NOT NULL,     -- of the file, in nanoseconds
  indexed  INTEGER NOT NULL,
  problem  TEXT NOT NULL
) STRICT;

CREATE TABLE document_owners (
  owner    TEXT NOT NULL,
  document INTEGER NOT NULL REFERENCES documents (n) ON DELETE CASCADE,
  PRIMARY KEY (owner, document)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_owners_document ON document_owners (document);

-- What a person added to a session: paths, globs and addresses.
CREATE TABLE document_sources (
  owner  TEXT NOT NULL,
  source TEXT NOT NULL,
  added  INTEGER NOT NULL,
  PRIMARY KEY (owner, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE passages (
  n        INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (n) ON DELETE CASCADE,
  heading  TEXT NOT NULL,
  first    INTEGER NOT NULL,
  last     INTEGER NOT NULL,
  text     TEXT NOT NULL
) STRICT;
CREATE INDEX passages_document ON passages (document);

CREATE VIRTUAL TABLE passage_search USING fts5 (
  heading, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Embeddings, each of length 1, as little-endian float16.
CREATE TABLE vectors (
  passage INTEGER PRIMARY KEY REFERENCES passages (n) ON DELETE CASCADE,
  model   TEXT NOT NULL,
  vector  BLOB NOT NULL
) STRICT;

CREATE TRIGGER passages_deleted AFTER DELETE ON passages BEGIN
  DELETE FROM passage_search WHERE rowid = old.n;
END;
CREATE TRIGGER document_unowned AFTER DELETE ON document_owners BEGIN
  DELETE FROM documents WHERE n = old.document AND NOT EXISTS (SELECT 1 FROM document_owners WHERE document = old.document);
END;
CREATE TRIGGER session_documents AFTER DELETE ON sessions BEGIN
  DELETE FROM document_sources WHERE owner = 'session:' || old.id;
  DELETE FROM document_owners WHERE owner = 'session:' || old.id;
END;
