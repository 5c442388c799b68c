// Package model says what a conversation with a language model is: one Client interface, the
// Request that it takes, the Events that it streams and the Response that it ends with, its
// errors, and a client that falls back on a second one.
//
// The rooms below it reach models: provider says which endpoints there are, catalogue what is
// known of models, endpoint sends and judges, chat speaks one protocol, replay plays a
// script, dial puts them together.
//
// It must not know tools, sessions or the terminal. Begin with model.go.
package model
