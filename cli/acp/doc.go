// Package acp owns `jcode acp`: the Agent Client Protocol, by which an editor hosts jcode.
// It is a second face of the conversations that the terminal shows, with the same gate,
// tools and store.
//
// A message's way: [conn] reads a line and hands requests to the [server] in the order in
// which they came; the server finds the [openSession]; that one sends prompts to its
// agent.Conversation and turns the events that come back into session updates, and the
// gate's questions into permission requests. Start reading in server.go.
//
// The package must not know how sessions, servers and models are wired: it asks its [Host].
// It takes the types of the protocol from the SDK, and reads and writes messages by itself:
// the SDK's connection drops lines that it cannot parse without an answer, ends at a line of
// 10 MiB, and starts requests in no fixed order, so that a cancel could overtake its prompt.
package acp
