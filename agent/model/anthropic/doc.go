// Package anthropic speaks Anthropic's Messages API.
//
// The room has no SDK below it: of Anthropic's own, only address, headers and the division of
// the stream into events would be used, and its whole API would be linked for it
// (9 MB). client.go sends a request, events.go divides the stream, stream.go and answer.go put
// the answer together. The request's body is written by encode.go, once per step and stable
// from its first byte to the newest message, because the prompt cache, and the signatures of
// thinking blocks, hold only for a beginning that does not change. What only this protocol
// understands, a thinking block, a server tool's block, leaves as model.Opaque and comes back
// in its place (blocks.go).
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package anthropic
