//go:build unix

package proc

import (
	"runtime"
	"testing"
)

func TestThePeakOfASmallChildIsNotThatOfItsBigParent(t *testing.T) {
	const size = 128 << 20
	big := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		big[i] = 1
	}
	p, err := Start(Spec{Argv: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if peak := p.Exit().Peak; peak >= size {
		t.Errorf("true used %d MiB", peak>>20)
	}
	runtime.KeepAlive(big)
}
