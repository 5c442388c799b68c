// Package updatecli is `jcode update`: whether there is a newer release, asked only of an address that the user has set.
// command.go is all there is.
package updatecli
