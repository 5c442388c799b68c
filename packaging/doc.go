// Package main owns what a release consists of: binaries and archives for each system,
// Linux packages, checksums, a bill of materials, provenance, and manifests for package
// managers. `scripts/release` runs it.
//
// One release is built in the order of the steps in main.go; the same commit
// and the same Go produce the same bytes. It must not know jcode's rooms: it builds the program, asks it for
// its completions, and packs.
package main
