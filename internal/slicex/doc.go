// Package slicex has what the standard library's slices lack here: what becomes of each element of a list, lists that are
// never nil, and what differs between two states of named things.
package slicex
