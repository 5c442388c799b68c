//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// peak returns the process's largest resident size so far, in bytes.
func peak(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, ok := strings.Cut(string(data), "VmHWM:")
	if !ok {
		t.Skip("no VmHWM")
	}
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Skip(err)
	}
	return n << 10
}

// TestOverlongResultCostsLittleMemory
func TestOverlongResultCostsLittleMemory(t *testing.T) { // not beside others: it measures the process
	if testing.Short() {
		t.Skip("moves 100 MB")
	}
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("the peak can't be reset here")
	}
	r := newStdioRig(t)
	d := r.mustDial("ok")
	before := peak(t)
	if _, _, err := d.session.call(context.Background(), "big", json.RawMessage(`{"bytes":100000000}`), testLimits, nil); err == nil {
		t.Fatal("no error")
	}
	if grown := peak(t) - before; grown > slack*150<<20 {
		t.Errorf("the peak grew by %d MB", grown>>20)
	} else {
		t.Logf("the peak grew by %d MB", grown>>20)
	}
}

// TestLargeResultIsHeldTwiceAtMost checks that a result under the limit is held in memory at most
// twice, raw and as text, and that it is released afterwards.
func TestLargeResultIsHeldTwiceAtMost(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 50 MB")
	}
	r := newManagerRig(t, map[string]any{"s": "ok"}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	const size = 50 << 20
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip("the peak can't be reset here")
	}
	before := peak(t)
	res := r.call("mcp:s:big", `{"bytes":`+strconv.Itoa(size)+`}`)
	if res.Failed || len(res.Text) > 1<<20 {
		t.Fatalf("%.200s", res.Text)
	}
	if grown := peak(t) - before; grown > slack*(2*size+30<<20) {
		t.Errorf("the peak grew by %d MB", grown>>20)
	} else {
		t.Logf("the peak grew by %d MB", grown>>20)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if held := m.HeapSys - m.HeapReleased; held > slack*40<<20 {
		t.Errorf("%d MB are held afterwards", held>>20)
	}
}
