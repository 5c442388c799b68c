// Package shellcli is the user's own commands in a chat: lines that begin with ! (Lines in lines.go, the first to read), and
// the list of jobs that run in the background (Jobs).
package shellcli
