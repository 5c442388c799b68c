// Package keyboard reads what a terminal sends and names the keys in it.
//
// A terminal's bytes come in pieces: a slow line may cut a mouse report, an answer of the
// terminal or a character anywhere. Reader puts the pieces together before anybody takes
// half a report for text; it ends a paste that lost its end. Name returns the name of a key
// on any keyboard layout, so that Ctrl+C is Ctrl+C where the key writes с.
//
// It must not know what a key does, and keeps no text.
package keyboard
