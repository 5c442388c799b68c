package lua

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/tools"
)

// BenchmarkWarmCall measures a tool call through a running host process, from the dispatcher
// to the result, for a script that does nothing.
func BenchmarkWarmCall(b *testing.B) {
	h := build(b, setup{})
	h.tool("nothing", simple, `return "x"`)
	h.start()
	for range 20 {
		h.call("nothing", none())
	}
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		began := time.Now()
		if res := h.call("nothing", none()); res.Text != "x" {
			b.Fatal(res.Text)
		}
		times = append(times, time.Since(began))
	}
	report(b, times)
}

// BenchmarkDispatchRead measures jcode.dispatch("read") from Lua, over the tool's own time.
func BenchmarkDispatchRead(b *testing.B) {
	h := build(b, setup{})
	writeFile(b, filepath.Join(h.dir, "f"), "text")
	h.mode = tools.ModeYolo
	h.tool("reads", `{"description": "d", "read_only": true, "timeout_ms": 60000, "permissions": {"intents": ["read"]}}`,
		`local t = jcode.time() for i = 1, 1000 do assert(jcode.dispatch("read", {path = "f"}).ok) end return (jcode.time() - t) * 1e6`)
	h.start()
	var inLua, direct time.Duration
	for b.Loop() {
		res := h.call("reads", none())
		var us float64
		if _, err := fmt.Sscan(res.Text, &us); err != nil {
			b.Fatal(res.Text)
		}
		inLua += time.Duration(us * 1000)
		began := time.Now()
		for range 1000 {
			h.call("read", map[string]string{"path": "f"})
		}
		direct += time.Since(began)
	}
	n := float64(b.N) * 1000
	b.ReportMetric(float64(inLua.Microseconds())/n, "µs/dispatch")
	b.ReportMetric(float64(direct.Microseconds())/n, "µs/direct")
}

// thousand creates a project with 1,000 tool folders whose files are an hour old.
func thousand(b *testing.B) (dir string) {
	dir = b.TempDir()
	for i := range 1000 {
		folder := filepath.Join(dir, ".jcode", "lua", "tools", fmt.Sprintf("t%04d", i))
		writeFile(b, filepath.Join(folder, manifest.MainName), `return "x"`)
		writeFile(b, filepath.Join(folder, manifest.FileName), simple)
	}
	old := time.Now().Add(-time.Hour)
	must(b, filepath.Walk(dir, func(p string, _ os.FileInfo, err error) error {
		if err == nil {
			err = os.Chtimes(p, old, old)
		}
		return err
	}))
	return dir
}

// scanned returns a room that has scanned its folders once.
func scanned(b *testing.B, dir string) *Room {
	reg := tools.NewRegistry()
	room, err := New(Options{Registry: reg, Dispatcher: &tools.Dispatcher{Registry: reg}, Root: dir, Trust: &personTrust{yes: true}})
	must(b, err)
	room.Refresh()
	if n := len(reg.Snapshot(nil).List()); n != 1000 {
		b.Fatal(n)
	}
	return room
}

// BenchmarkScanThousand measures the first scan of 1,000 tool folders.
func BenchmarkScanThousand(b *testing.B) {
	dir := thousand(b)
	for b.Loop() {
		scanned(b, dir).Close()
	}
}

// BenchmarkScanThousandAgain measures the scan before each step of the agent when nothing has
// changed.
func BenchmarkScanThousandAgain(b *testing.B) {
	room := scanned(b, thousand(b))
	defer room.Close()
	for b.Loop() {
		room.Refresh()
	}
}

// BenchmarkSavedFileToLive measures the time from saving a file to the new version in the registry.
func BenchmarkSavedFileToLive(b *testing.B) {
	h := build(b, setup{})
	dir := h.tool("x", simple, `return 0`)
	h.start()
	n := 0
	times := make([]time.Duration, 0, b.N)
	for b.Loop() {
		n++
		before := h.reg.Version()
		writeFile(b, filepath.Join(dir, manifest.MainName), fmt.Sprintf("return %d", n))
		began := time.Now()
		eventually.True(b, "the new version is live", func() bool { return h.reg.Version() != before })
		times = append(times, time.Since(began))
	}
	report(b, times)
}

// BenchmarkHostStart measures the time from starting a host to its ready message.
func BenchmarkHostStart(b *testing.B) {
	for b.Loop() {
		c, err := pool.StartProcess(context.Background(), false)
		must(b, err)
		b.StopTimer()
		c.Close()
		b.StartTimer()
	}
}

func report(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs/p50")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs/p99")
}
