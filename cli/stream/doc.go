// Package stream reads what a program writes to a run of jcode while it goes on: one JSON object a line, each with an
// answer.
package stream
