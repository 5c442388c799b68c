-- The whole of a result that was cut is a file, which the model can read: no row held one.
DROP INDEX tool_calls_blob;
ALTER TABLE tool_calls DROP COLUMN blob;
