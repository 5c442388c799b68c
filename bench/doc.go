// Command bench measures every figure of docs/performance.md and prints it beside its
// budget:
//
//	go run ./bench                        # all of them, about ten minutes
//	go run ./bench -only 'terminal|grep'  # those whose names match
//	go run ./bench -raw -count 10         # the benchmarks' own lines, for benchstat
//
// The package owns the list of figures and the benchmarks of the whole program: the real
// binary against a scripted model server, in a home of its own, measured from outside. What
// is measured within the program are benchmarks and tests of its packages, which this
// command runs. Nothing imports it, and no test times anything.
package main
