-- Whether a file changed while a command of the session ran, rather than by its file tools.
ALTER TABLE edits ADD COLUMN command INTEGER NOT NULL DEFAULT 0;
CREATE INDEX edits_session ON edits (session, at);
