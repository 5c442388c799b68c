// Package relay shows the terminal program of this process in other terminals. The process holds both sides of a pseudo
// terminal: the program draws on one of them, and what it draws goes to the windows that show it, which send keys and
// their size back. While nobody looks, the program is told so and draws nothing. It must not know what the program is.
package relay
