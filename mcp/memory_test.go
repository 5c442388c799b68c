//go:build linux

package mcp

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
)

// peak gives the process's largest resident size so far, in bytes.
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

// TestOverlongResultCostsLittleMemory // S12, M02
func TestOverlongResultCostsLittleMemory(t *testing.T) {
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
