-- What a session was shown of files: the text as its model believes it to be, and which lines of it were
-- never shown. known is a digest of what the file held then. A row that is written again has a new n.
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
-- When the change of a checkpoint ended.
ALTER TABLE checkpoints ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
CREATE INDEX checkpoints_ended ON checkpoints (ended) WHERE ended > 0;
