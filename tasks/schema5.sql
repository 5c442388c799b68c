ALTER TABLE task_bundles ADD COLUMN log BLOB;
