// Package watch owns noticing that files changed: it watches chosen folders (not
// trees), waits until a save has settled, and reports which paths are concerned.
// Roots that do not exist yet are waited for through their nearest existing
// parent, new folders are taken in as they appear, and where the system cannot
// watch, the folders are polled.
//
// It must not know what the files mean: the caller says which folders and which
// names count, and reads the files again when told.
package watch
