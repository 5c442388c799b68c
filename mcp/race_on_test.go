//go:build race

package mcp

// slack multiplies limits of time and memory under the race detector.
const slack = 4
