// Package search walks a folder in parallel, following git's ignore rules, and finds lines in its files.
//
// It must not know tools or sessions. Paths in it are slash paths below the folder at which a Walk begins.
package search
