// Package printcli is what a run without a terminal prints: the answer as text, as JSON or as lines of events (New), the value
// that a schema asks for (Want), and how the run ends. Start with print.go: Run sends a prompt and prints until its turn ends.
package printcli
