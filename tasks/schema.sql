CREATE TABLE tasks (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  prompt     TEXT NOT NULL,
  folder     TEXT NOT NULL,
  base       TEXT NOT NULL DEFAULT '',
  role       TEXT NOT NULL DEFAULT '',
  model      TEXT NOT NULL DEFAULT '',
  mode       TEXT NOT NULL DEFAULT '',
  max_steps  INTEGER NOT NULL DEFAULT 0,
  max_cost   REAL NOT NULL DEFAULT 0,
  max_time   INTEGER NOT NULL DEFAULT 0,
  no_ask     INTEGER NOT NULL DEFAULT 0,
  priority   INTEGER NOT NULL DEFAULT 2,
  not_before INTEGER NOT NULL DEFAULT 0,
  key        TEXT NOT NULL DEFAULT '',
  schedule   INTEGER NOT NULL DEFAULT 0,
  state      TEXT NOT NULL,
  note       TEXT NOT NULL DEFAULT '',
  created    INTEGER NOT NULL,
  changed    INTEGER NOT NULL,
  next_at    INTEGER NOT NULL DEFAULT 0,
  job        INTEGER NOT NULL DEFAULT 0,
  attempt    INTEGER NOT NULL DEFAULT 0,
  fails      INTEGER NOT NULL DEFAULT 0,
  lost       INTEGER NOT NULL DEFAULT 0,
  worker     TEXT NOT NULL DEFAULT '',
  session    TEXT NOT NULL DEFAULT '',
  goes_on    INTEGER NOT NULL DEFAULT 0,
  dir        TEXT NOT NULL DEFAULT '',
  branch     TEXT NOT NULL DEFAULT '',
  result     TEXT NOT NULL DEFAULT '',
  summary    TEXT NOT NULL DEFAULT '',
  steps      INTEGER NOT NULL DEFAULT 0,
  cost       REAL NOT NULL DEFAULT 0,
  cancel     INTEGER NOT NULL DEFAULT 0,
  taken      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX tasks_state ON tasks (state, id);
CREATE UNIQUE INDEX tasks_key ON tasks (key) WHERE key <> '' AND state IN ('queued', 'working', 'asks');

CREATE TABLE task_after (
  task   INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  before INTEGER NOT NULL,
  PRIMARY KEY (task, before)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_attempts (
  task    INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  number  INTEGER NOT NULL,
  session TEXT NOT NULL DEFAULT '',
  worker  TEXT NOT NULL DEFAULT '',
  began   INTEGER NOT NULL,
  ended   INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL DEFAULT '',
  steps   INTEGER NOT NULL DEFAULT 0,
  cost    REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (task, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_attempts_began ON task_attempts (began);

CREATE TABLE task_questions (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  task      INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  attempt   INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  tool      TEXT NOT NULL DEFAULT '',
  title     TEXT NOT NULL DEFAULT '',
  command   TEXT NOT NULL DEFAULT '',
  diff      TEXT NOT NULL DEFAULT '',
  details   TEXT NOT NULL DEFAULT '[]',
  options   TEXT NOT NULL DEFAULT '[]',
  arguments TEXT NOT NULL DEFAULT '',
  asked     INTEGER NOT NULL,
  answer    TEXT NOT NULL DEFAULT '',
  word      TEXT NOT NULL DEFAULT '',
  used      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX task_questions_task ON task_questions (task);

CREATE TABLE task_schedules (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  every   INTEGER NOT NULL DEFAULT 0,
  cron    TEXT NOT NULL DEFAULT '',
  zone    TEXT NOT NULL DEFAULT '',
  task    TEXT NOT NULL,
  created INTEGER NOT NULL,
  next    INTEGER NOT NULL,
  last    INTEGER NOT NULL DEFAULT 0,
  note    TEXT NOT NULL DEFAULT ''
) STRICT;
