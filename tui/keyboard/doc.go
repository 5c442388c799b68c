// Package keyboard reads what a terminal sends and names the keys in it.
//
// A terminal's bytes arrive in pieces: a slow line may split a mouse report, a reply of the terminal or a
// character anywhere. Reader joins the pieces before half a report can be taken for text; it ends a paste
// that lost its end. Name returns the name of a key on any keyboard layout, so that Ctrl+C is Ctrl+C where
// the key types с.
//
// It must not know what a key does, and keeps no text.
package keyboard
