// Package model owns the conversation with a language model: one Client
// interface, the OpenAI-compatible client behind it, the replay client that plays
// a script, retry policy, provider presets and the catalogue of known models.
//
// It must not know tools, sessions or the terminal: it turns a Request into a
// stream of Events and one Response.
package model
