// Package capture keeps what a command prints: its first and last bytes in memory and all of it in a log, as text without
// control sequences, or as it is if it is no text. Read capture.go first; result.go writes it out for a model.
package capture
