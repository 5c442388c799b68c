-- The order in which sessions were used is counted: a clock may be wrong.
ALTER TABLE sessions ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET used = o.place FROM (SELECT n, row_number() OVER (ORDER BY updated, n) AS place FROM sessions) o WHERE o.n = sessions.n;
DROP INDEX sessions_project;
DROP INDEX sessions_updated;
CREATE INDEX sessions_project ON sessions (project_id, used);
CREATE INDEX sessions_used ON sessions (used);
