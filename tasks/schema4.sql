ALTER TABLE tasks ADD COLUMN repo TEXT NOT NULL DEFAULT '';
CREATE INDEX tasks_repo ON tasks (repo) WHERE repo <> '' AND state = 'queued';
