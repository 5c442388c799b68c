-- What a person saw of a session beside its messages: notices, lines of their own shell,
-- what a turn came to. after is the seq of the message that it followed, 0 for none.
CREATE TABLE shown (
	id      INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
	after   INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	data    BLOB NOT NULL,
	at      INTEGER NOT NULL
);
CREATE INDEX shown_session ON shown (session, id);
