// Package wire owns the one JSON form of what happens in a conversation: a line for each event, as
// `--output-format stream-json` prints them and the session protocol sends them. Its Go types are the
// source of docs/events.schema.json.
//
// The way of one event: [Of] turns it into one of the types in lines.go; a sub-agent's event becomes
// its own line with marks that say whose it is. Start with lines.go.
package wire
