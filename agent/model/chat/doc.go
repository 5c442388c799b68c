// Package chat speaks OpenAI's chat completions, in the dialects of some thirty servers.
//
// A request is encoded by encode.go, once per step and stable from its first byte to the
// newest message. features.go holds how one model wants it, and learns from refusals. The
// answer's stream is brought into one form by body.go in one pass, and put together by
// answer.go. go-openai sits between the two: it makes the HTTP request, splits the stream
// into events and decodes them; transport.go beneath it puts our body in place of its own,
// because its request cannot express temperature 0, an empty result or a provider's own
// fields, and its checks by model name refuse what servers accept.
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package chat
