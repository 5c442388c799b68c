-- Sub-agents that work beside a conversation: what is needed to find them after a crash.
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
