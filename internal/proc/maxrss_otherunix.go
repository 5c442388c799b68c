//go:build unix && !darwin

package proc

// maxrssUnit is what one of Maxrss means: a kibibyte.
const maxrssUnit = 1 << 10
