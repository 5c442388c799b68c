// Package anthropic speaks Anthropic's Messages API.
//
// The SDK makes the request (address, version, key), splits the stream into events and
// decodes those that come once per block; the deltas, of which there are thousands, are
// decoded here. The request's body is written by encode.go, once per step and stable from its
// first byte to the newest message, because the prompt cache, and the signatures of thinking
// blocks, hold only for a beginning that does not change. What only this protocol
// understands, a thinking block, a server tool's block, leaves as model.Opaque and comes
// back in its place (blocks.go).
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package anthropic
