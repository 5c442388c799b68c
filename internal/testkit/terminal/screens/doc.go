// Command screens draws the main screens of the real program as SVG for the README. It builds jcode, takes
// the offline tour in an emulated terminal, answers its questions and saves what the terminal shows. minute.svg is a moving picture: a prompt, a question with a
// diff, a test, and /undo.
//
//	go run ./internal/testkit/terminal/screens [-out docs/screens]
//
// It must not know how a screen is composed.
package main
