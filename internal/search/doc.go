// Package search owns walking a folder in parallel, with git's ignore rules, and finding
// lines in its files.
//
// It must not know tools, sessions or who asks. Paths in it are slash paths below the
// folder that a Walk begins at.
package search
