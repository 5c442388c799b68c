// Package anthropic speaks Anthropic's Messages API.
//
// It uses no SDK: of Anthropic's own, only the address, the headers and the splitting of the stream into
// events would be used, and its whole API would be linked for that (9 MB). client.go sends a request,
// events.go splits the stream, stream.go and answer.go assemble the answer. encode.go writes the request's
// body once per step, stable from its first byte to the newest message, because the prompt cache and the
// signatures of thinking blocks hold only for a beginning that does not change. What only this protocol
// understands (a thinking block, a server tool's block) leaves as model.Opaque and comes back in its place
// (blocks.go).
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package anthropic
