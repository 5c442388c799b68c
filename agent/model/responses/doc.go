// Package responses speaks OpenAI's Responses, without anything kept at the provider.
//
// go-openai makes the request and reads the stream; its types hold what comes once per item.
// The body is written by encode.go, for the same reasons as in chat: it is stable from its
// first byte to the newest item, and says what the library cannot. Reasoning comes back
// encrypted and goes out again between the calls that it led to (items.go).
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package responses
