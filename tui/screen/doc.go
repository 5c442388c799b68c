// Package screen draws frames on a terminal the moment they are built.
//
// A frame goes this way: Painter.Paint takes its lines, differ finds what differs from the
// frame before (a line that moved is scrolled, of a line that grew only its end is
// written), and one write brings it to the terminal together with the cursor and what the
// terminal is told beside the picture (Report). Painter is also the output of Bubble Tea,
// which gets a blank frame and keeps raw mode, the alternate screen and suspending;
// modes.go turns on and off what the program needs of a terminal.
//
// It must not know what a frame shows. Begin with painter.go.
package screen
