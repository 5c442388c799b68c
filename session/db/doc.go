// Package db owns the SQLite file: how it is opened, migrated, read, written and closed, and
// the lock files beside it. The tables are its caller's: Options.Schema brings them.
//
// # The way of one write
//
// Write takes the one writing connection, begins the transaction IMMEDIATE, runs the
// caller's function on a Tx and commits. Once begun, a transaction is carried through even
// if the context ends, so that an interrupt never tears it. Reads (Each, Row) run beside it
// on connections of their own, which are opened on first use; Few, for the short reads of a start,
// uses the writing connection until then.
//
// # What Open guards against
//
// Open holds a lock file while it inspects, creates or migrates the file, so first starts of
// several processes follow one another. A damaged file is moved aside and reported by
// Notices; a file of a newer jcode, of another program, or one that cannot be written is
// refused and left as it is. All migrations of one start are one transaction.
//
// # Durability
//
// A row is in the file when Write returns. A killed process loses nothing that was returned;
// a power cut may lose the last moments, because commits don't wait for the disk
// (synchronous=NORMAL).
//
// It must not know a table, a session's content or a setting. Files, in reading order: db.go,
// tx.go, schema.go, file.go, hold.go.
package db
