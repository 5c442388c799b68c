// Package history owns what of a conversation a model is shown: the transcript as it grows, the form of it that
// every provider accepts, what stored rows mean to a model and how prompts, notices and answers become rows, how
// large the next request is, and which part of a history a summary replaces. It is pure: it reads no store, sends
// nothing and starts nothing. transcript.go is the file to read first.
package history
