//go:build race

package retrieval_test

// raceEnabled reports that everything takes many times as long.
const raceEnabled = true
