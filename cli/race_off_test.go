//go:build !race

package cli_test

// slack multiplies limits of time and memory under the race detector.
const slack = 1
