-- A blob is put before the row that names it: a sweep leaves young ones alone.
ALTER TABLE blobs ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
