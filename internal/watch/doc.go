// Package watch notices that files changed: it watches chosen folders (not trees), waits until a save has
// settled, and reports the affected paths. Roots that do not exist yet are waited for through their nearest
// existing parent, new folders are added as they appear, and if the system cannot watch, the folders are
// polled.
//
// It must not know what the files mean: the caller says which folders and which names matter, and rereads the
// files when notified.
package watch
