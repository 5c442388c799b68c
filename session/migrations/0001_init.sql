-- The internal key of a session is n; messages carry n << 24 | seq as their rowid, so
-- that a session's messages lie together and a search hit names its session by itself.
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
) STRICT;
CREATE INDEX sessions_project ON sessions (project_id, updated);
CREATE INDEX sessions_updated ON sessions (updated);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id <> '';

-- Not STRICT: a row that something else spoiled must still be reachable.
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
  blob      TEXT NOT NULL DEFAULT '',
  data      TEXT,
  parts     TEXT,
  display   TEXT,
  started   INTEGER NOT NULL DEFAULT 0,
  ended     INTEGER NOT NULL DEFAULT 0,
  UNIQUE (message, idx)
);
CREATE INDEX tool_calls_blob ON tool_calls (blob) WHERE blob <> '';

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
) STRICT;

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
) STRICT;
CREATE INDEX checkpoints_turn ON checkpoints (session, turn, path);
CREATE INDEX checkpoints_before ON checkpoints (before_hash) WHERE before_hash <> '';
CREATE INDEX checkpoints_after ON checkpoints (after_hash) WHERE after_hash <> '';
