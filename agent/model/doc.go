// Package model defines what a conversation with a language model is: one Client interface, the Request that
// it takes, the Events that it streams, the Response that it ends with, its errors, and a client that falls
// back on a second one.
//
// The packages below it reach models: provider says which endpoints there are, catalogue what is known of
// models, endpoint sends requests and classifies failures, chat, anthropic and responses speak one protocol
// each, replay plays a script, dial opens the client that a provider needs.
//
// It must not know tools, sessions or the terminal. Begin with model.go.
package model
