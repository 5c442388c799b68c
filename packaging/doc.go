// Package main owns what GoReleaser does not know of a release: the licences of all that is linked, completions and the
// compressed manual, the bill of materials and the bound of size. `.goreleaser.yaml` says what a release consists of and
// runs this; `scripts/release` begins it.
//
// It must not know jcode's rooms: it builds the program and asks it for its completions.
package main
