-- What was used is summed from this index alone: the rows of messages hold their text, too.
CREATE INDEX messages_usage ON messages (created, session, seq, usage) WHERE usage IS NOT NULL;
