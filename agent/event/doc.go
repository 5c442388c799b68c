// Package event owns what happens in a conversation, as data: the events, the prompts and states
// that they carry, and the broker that hands them to those who read. A front end needs this
// package and not the loop.
//
// The way of one event: a conversation calls [Broker.Emit]; the broker collects deltas for a
// frame and merges those of one type; each [Subscription] holds what its reader has not taken
// yet. Start with event.go.
package event
