// Package console is what every command of the command line has: the streams that it reads and writes, which clean what
// goes to a terminal, its exit codes, errors of usage, JSON, a question at the terminal, and the signals that end it. It knows no feature.
package console
