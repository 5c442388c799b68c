//go:build race

package host

// raceDetector: a binary with the race detector maps too much writable memory to live
// under RLIMIT_DATA.
const raceDetector = true
