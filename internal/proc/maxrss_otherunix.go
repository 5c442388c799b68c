//go:build unix && !darwin

package proc

// maxrssUnit is the unit of Maxrss: a kibibyte.
const maxrssUnit = 1 << 10
