-- What all migrations make together, for a new file: written by a test, not by hand.
CREATE TABLE sessions (
  n             INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  title         TEXT NOT NULL DEFAULT '',
  title_source  TEXT NOT NULL DEFAULT 'auto',
  parent_id     TEXT NOT NULL DEFAULT '',
  fork_seq      INTEGER NOT NULL DEFAULT 0,
  kind          TEXT NOT NULL DEFAULT '',
  cwd           TEXT NOT NULL DEFAULT '',
  project_id    TEXT NOT NULL DEFAULT '',
  role_name     TEXT NOT NULL DEFAULT '',
  role_snapshot TEXT NOT NULL DEFAULT '',
  model         TEXT NOT NULL DEFAULT '',
  mode          TEXT NOT NULL DEFAULT '',
  created       INTEGER NOT NULL,
  updated       INTEGER NOT NULL,
  archived      INTEGER NOT NULL DEFAULT 0,
  last_seq      INTEGER NOT NULL DEFAULT 0,
  messages      INTEGER NOT NULL DEFAULT 0,
  input_tokens  INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  cost          REAL NOT NULL DEFAULT 0,
  first_prompt  TEXT NOT NULL DEFAULT ''
, used INTEGER NOT NULL DEFAULT 0, role_values TEXT NOT NULL DEFAULT '', written_tokens INTEGER NOT NULL DEFAULT 0, estimated INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id <> '';
CREATE TABLE messages (
  id          INTEGER PRIMARY KEY,
  session     INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  seq         INTEGER NOT NULL,
  role        TEXT NOT NULL,
  parts       TEXT NOT NULL,
  usage       TEXT,
  archived_by INTEGER NOT NULL DEFAULT 0,
  rewound     INTEGER NOT NULL DEFAULT 0,
  created     INTEGER NOT NULL,
  UNIQUE (session, seq)
);
CREATE TABLE tool_calls (
  id        INTEGER PRIMARY KEY,
  message   INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  idx       INTEGER NOT NULL,
  call_id   TEXT NOT NULL,
  name      TEXT NOT NULL,
  wire      TEXT NOT NULL,
  arguments TEXT NOT NULL,
  status    TEXT NOT NULL,
  result    TEXT NOT NULL DEFAULT '',
  data      TEXT,
  parts     TEXT,
  display   TEXT,
  started   INTEGER NOT NULL DEFAULT 0,
  ended     INTEGER NOT NULL DEFAULT 0,
  UNIQUE (message, idx)
);
CREATE VIRTUAL TABLE search USING fts5 (
  body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
CREATE TABLE todos (
  session INTEGER PRIMARY KEY REFERENCES sessions (n) ON DELETE CASCADE,
  items   TEXT NOT NULL
) STRICT;
CREATE TABLE drafts (
  key  TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE roles (
  name    TEXT PRIMARY KEY,
  text    TEXT NOT NULL,
  updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE grants (
  id         INTEGER PRIMARY KEY,
  key        TEXT NOT NULL,
  scope      TEXT NOT NULL CHECK (scope IN ('session', 'project', 'global')),
  session_id TEXT NOT NULL DEFAULT '',
  project_id TEXT NOT NULL DEFAULT '',
  hash       TEXT NOT NULL DEFAULT '',
  created    INTEGER NOT NULL,
  UNIQUE (key, scope, session_id, project_id, hash)
) STRICT;
CREATE TABLE trust (
  project_id TEXT NOT NULL,
  kind       TEXT NOT NULL,
  name       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  created    INTEGER NOT NULL,
  PRIMARY KEY (project_id, kind, name, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE lua_state (
  scope TEXT NOT NULL,
  key   TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE prompt_history (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL,
  cwd        TEXT NOT NULL,
  text       TEXT NOT NULL,
  at         INTEGER NOT NULL
) STRICT;
CREATE INDEX prompt_history_project ON prompt_history (project_id, id);
CREATE TABLE blobs (
  hash  TEXT PRIMARY KEY,
  size  INTEGER NOT NULL,
  codec TEXT NOT NULL,
  bytes BLOB NOT NULL
, at INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE checkpoints (
  id          INTEGER PRIMARY KEY,
  session     INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  turn        INTEGER NOT NULL,
  path        TEXT NOT NULL,
  before_kind TEXT NOT NULL,
  before_hash TEXT NOT NULL DEFAULT '',
  before_mode INTEGER NOT NULL DEFAULT 0,
  after_kind  TEXT NOT NULL DEFAULT '',
  after_hash  TEXT NOT NULL DEFAULT '',
  after_mode  INTEGER NOT NULL DEFAULT 0,
  state       TEXT NOT NULL DEFAULT 'live',
  note        TEXT NOT NULL DEFAULT '',
  at          INTEGER NOT NULL
, ended INTEGER NOT NULL DEFAULT 0, author TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX checkpoints_turn ON checkpoints (session, turn, path);
CREATE INDEX checkpoints_before ON checkpoints (before_hash) WHERE before_hash <> '';
CREATE INDEX checkpoints_after ON checkpoints (after_hash) WHERE after_hash <> '';
CREATE INDEX sessions_project ON sessions (project_id, used);
CREATE INDEX sessions_used ON sessions (used);
CREATE TABLE shown (
	id      INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
	after   INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	data    BLOB NOT NULL,
	at      INTEGER NOT NULL
);
CREATE INDEX shown_session ON shown (session, id);
CREATE INDEX messages_usage ON messages (created, session, seq, usage) WHERE usage IS NOT NULL;
CREATE TABLE agents (
  session    TEXT PRIMARY KEY,
  parent     TEXT NOT NULL,
  project_id TEXT NOT NULL,
  name       TEXT NOT NULL,
  role       TEXT NOT NULL DEFAULT '',
  model      TEXT NOT NULL DEFAULT '',
  dir        TEXT NOT NULL DEFAULT '',
  branch     TEXT NOT NULL DEFAULT '',
  base       TEXT NOT NULL DEFAULT '',
  state      TEXT NOT NULL,
  created    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agents_parent ON agents (parent);
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
CREATE TABLE edits (
  path    TEXT NOT NULL,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL, command INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (path, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX edits_at ON edits (at);
CREATE TABLE claims (
  session TEXT NOT NULL,
  path    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX edits_session ON edits (session, at);
CREATE TABLE seen (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  path    TEXT NOT NULL,
  known   BLOB NOT NULL,
  hash    TEXT NOT NULL, -- of the text
  size    INTEGER NOT NULL,
  codec   TEXT NOT NULL,
  bytes   BLOB NOT NULL,
  hidden  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  UNIQUE (session, path)
) STRICT;
CREATE INDEX checkpoints_ended ON checkpoints (ended) WHERE ended > 0;
CREATE TABLE overwrites (
  session TEXT NOT NULL,
  path    TEXT NOT NULL,
  by      TEXT NOT NULL, -- the other session
  at      INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE change_names (
  session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  turn    INTEGER NOT NULL,
  name    TEXT NOT NULL,
  PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
CREATE TABLE document_weights (
  owner    TEXT NOT NULL,
  model    TEXT NOT NULL,
  weight   REAL NOT NULL,    -- of the ranking by embeddings, 0 to 1
  passages INTEGER NOT NULL, -- that there were then
  PRIMARY KEY (owner, model)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_document_weights AFTER DELETE ON sessions BEGIN
  DELETE FROM document_weights WHERE owner = 'session:' || old.id;
END;
