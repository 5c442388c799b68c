// Package workplacecli is where a session works, as it is told: to its model once, with the date of the day (Dates in date.go,
// the first to read, and Folder), and to the user at the start and in the status line (Shown, StatusLine).
package workplacecli
