// Package health is what the doctor's checks find: one line each, with what to do. Every feature's check adds to a
// Report; it knows none of them.
package health
