-- What changed a path, where that was not one of jcode's own tools: a command, a tool of a server.
ALTER TABLE checkpoints ADD COLUMN author TEXT NOT NULL DEFAULT '';
