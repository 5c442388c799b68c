-- Who changed a file last, by session, and which files a session is about to work on: what agents
-- and processes know of each other.
CREATE TABLE edits (
  path    TEXT NOT NULL,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (path, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX edits_at ON edits (at);
CREATE TABLE claims (
  session TEXT NOT NULL,
  path    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
