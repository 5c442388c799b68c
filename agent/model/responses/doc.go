// Package responses speaks OpenAI's Responses, with nothing stored at the provider.
//
// go-openai makes the request and reads the stream; its types hold what arrives once per item. encode.go
// writes the body, for the same reasons as in chat: it is stable from its first byte to the newest item, and
// expresses what the library cannot. Reasoning arrives encrypted and is sent back between the calls that it
// led to (items.go).
//
// It must not know other protocols, nor why a request is made. Begin with client.go.
package responses
