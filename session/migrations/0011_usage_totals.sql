-- What a session wrote to the caches of providers, and whether some of its counts are estimates.
ALTER TABLE sessions ADD COLUMN written_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET
  written_tokens = coalesce((SELECT sum(json_extract(m.usage, '$.cache_write_tokens')) FROM messages m
    WHERE m.session = sessions.n AND m.seq > sessions.fork_seq AND m.usage IS NOT NULL AND json_valid(m.usage)), 0),
  estimated = EXISTS (SELECT 1 FROM messages m
    WHERE m.session = sessions.n AND m.seq > sessions.fork_seq AND m.usage IS NOT NULL AND json_valid(m.usage) AND json_extract(m.usage, '$.estimated'));
