// Package chat speaks OpenAI's chat completions, in the dialects of some thirty servers.
//
// encode.go encodes a request once per step, stable from the first byte to the newest message. features.go
// holds the form that one model accepts, and learns from refusals. body.go normalises the answer's stream in
// one pass, and answer.go assembles it. go-openai sits between the two: it makes the HTTP request, splits the
// stream into events and decodes them. endpoint.Transport beneath it replaces its body with ours, because its
// request cannot express temperature 0, an empty result or a provider's own fields, and its checks by model
// name refuse what servers accept.
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package chat
