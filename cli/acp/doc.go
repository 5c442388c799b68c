// Package acp owns `jcode acp`: the Agent Client Protocol, by which an editor hosts jcode. It is a second
// front end for the conversations that the terminal shows, with the same gate, tools and store.
//
// [conn] reads a line and passes requests to the [server] in the order in which they arrived; the server
// finds the [openSession], which sends prompts to its agent.Conversation and turns the resulting events into
// session updates, and the gate's questions into permission requests. Start reading in server.go.
//
// The package must not know how sessions, servers and models are wired: it asks its [Host]. It uses the types
// of the protocol from the SDK, but reads and writes messages itself: the SDK's connection drops lines that
// it cannot parse without an answer, ends at a line of 10 MiB, and starts requests in no fixed order, so that
// a cancel could overtake its prompt.
package acp
