// Package bench owns the whole-process figures of docs/performance.md: the real binary
// against a scripted model server, in a home of its own, measured from outside.
//
//	go test ./bench -bench . -benchtime 5x
//
// It holds benchmarks only; nothing imports it, and no test times anything.
package bench
