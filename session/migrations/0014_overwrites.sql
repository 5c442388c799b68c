-- Which changes of a session a command of another one wrote over, until the session was told.
CREATE TABLE overwrites (
  session TEXT NOT NULL,
  path    TEXT NOT NULL,
  by      TEXT NOT NULL, -- the other session
  at      INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
-- What changes are called that no prompt made, such as the merge of an agent's work.
CREATE TABLE change_names (
  session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  turn    INTEGER NOT NULL,
  name    TEXT NOT NULL,
  PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
