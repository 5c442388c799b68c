// Package screen draws frames on a terminal the moment they are built.
//
// Painter.Paint takes a frame's lines, differ finds what differs from the previous frame (a line that moved
// is scrolled, of a line that grew only the end is written), and one write sends it to the terminal together
// with the cursor and the out-of-band state (Report). Painter is also the output of Bubble Tea, which gets an
// empty frame and manages raw mode, the alternate screen and suspending; modes.go turns on and off what the
// program needs of a terminal.
//
// It must not know what a frame shows. Begin with painter.go.
package screen
