//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jcode/internal/testkit/modeltest"
)

// program is the measured binary, with its own home and project.
type program struct {
	b       *testing.B
	bin     string
	home    string
	project string
	server  *modeltest.Server
}

// newProgram builds the binary and starts a server that answers by answer.
func newProgram(b *testing.B, answer func(modeltest.Request) modeltest.Reply) *program {
	b.Helper()
	dir := b.TempDir()
	p := &program{b: b, bin: filepath.Join(dir, "jcode"), home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	install(b, p.bin, "jcode")
	for _, d := range []string{p.home, p.project} {
		if err := os.Mkdir(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	var lines bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&lines, "line %d of a file that is read\n", i)
	}
	if err := os.WriteFile(filepath.Join(p.project, "file.txt"), lines.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	p.server = modeltest.New(b, modeltest.Func(func(r modeltest.Request) modeltest.Reply {
		if len(r.Tools) == 0 { // a title is asked for in the background
			return modeltest.Text("A title")
		}
		return answer(r)
	}).Forever())
	return p
}

// install builds a program and drops it from the kernel's page cache. What the linker wrote stays
// there in large pages, and a process that touches a part of one is charged for the whole. Read
// from the disk, as after a start of the machine, the program is charged 16 MiB less.
func install(b *testing.B, bin, pkg string) {
	b.Helper()
	if out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	f, err := os.OpenFile(bin, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close()); err != nil {
		b.Fatal(err)
	}
}

// command returns the program with arguments, not started.
func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.bin, args...)
	cmd.Dir = p.project
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "JCODE_") || strings.HasPrefix(v, "NO_COLOR")
	}), "JCODE_HOME="+p.home, "HOME="+p.home, "OPENAI_API_KEY=x", "OPENAI_BASE_URL="+p.server.URL(), "JCODE_MODEL=test-model")
	return cmd
}

// samples are the measured values of the runs of a benchmark, by unit. Medians are reported.
type samples map[string][]float64

func (f samples) add(unit string, v float64) { f[unit] = append(f[unit], v) }

func (f samples) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	for unit, values := range f {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], unit)
	}
}

// run measures one run from outside.
func (p *program) run(f samples, args ...string) {
	p.b.Helper()
	p.server.Reset()
	cmd := p.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		p.b.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	state := cmd.ProcessState
	f.add("wall-ms", ms(wall))
	f.add("cpu-ms", ms(state.UserTime()+state.SystemTime()))
	if reqs := p.server.Requests(); len(reqs) > 0 {
		f.add("request-ms", ms(reqs[0].Time.Sub(began)))
		f.add("request-KiB", float64(len(reqs[0].Raw))/1024)
	}
	if gaps := p.server.Gaps(); len(gaps) > 0 {
		slices.Sort(gaps)
		f.add("gap-ms", ms(gaps[len(gaps)/2]))
	}
}

// peak returns the largest memory of one run. The kernel's own value (getrusage) includes the memory
// that the process had before its exec, which is that of this benchmark.
func (p *program) peak(args ...string) float64 {
	p.b.Helper()
	p.server.Reset()
	cmd := p.command(args...)
	if err := cmd.Start(); err != nil {
		p.b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	most := 0
	for {
		if kb, ok := highWater(cmd); ok {
			most = max(most, kb)
		}
		select {
		case err := <-ended:
			if err != nil {
				p.b.Fatalf("%v: %v", args, err)
			}
			return float64(most) / 1024
		case <-time.After(time.Millisecond / 2):
		}
	}
}

// highWater returns the largest memory of a running program so far, in KiB.
func highWater(cmd *exec.Cmd) (kb int, ok bool) {
	proc := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
	if exe, err := os.Readlink(proc + "exe"); err != nil || exe != cmd.Path {
		return 0, false
	}
	data, err := os.ReadFile(proc + "status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			kb, err = strconv.Atoi(strings.Fields(rest)[0])
			return kb, err == nil
		}
	}
	return 0, false
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// markdown returns an answer of a number of tokens in which all lines differ.
func markdown(tokens int) []string {
	block := strings.SplitAfter("## Heading %d\n\nSome *text* of part %d with `code`, a [link](x) and words to read.\n\n```go\nfunc f%d() { return }\n```\n\n- item %d\n- another 漢字 %d\n\n", " ")
	out := make([]string, tokens)
	for i := range out {
		out[i] = strings.ReplaceAll(block[i%len(block)], "%d", strconv.Itoa(i/len(block)))
	}
	return out
}

func hello(modeltest.Request) modeltest.Reply { return modeltest.Text("Hello.") }

// BenchmarkVersion measures the cost of every start. Goal: wall ≤ 6 ms.
func BenchmarkVersion(b *testing.B) {
	p, f := newProgram(b, hello), samples{}
	for b.Loop() {
		p.run(f, "--version")
	}
	f.report(b)
}

// BenchmarkHello measures the shortest session. Goals: request ≤ 30 ms, wall and CPU ≤ 35 ms,
// peak ≤ 40 MiB, request ≤ 18 KiB.
func BenchmarkHello(b *testing.B) {
	p, f := newProgram(b, hello), samples{}
	p.run(samples{}, "-p", "hi") // the first start makes the database
	for b.Loop() {
		p.run(f, "-p", "say hello")
		f.add("peak-MiB", p.peak("-p", "say hello"))
	}
	f.report(b)
}

// BenchmarkTools50 reads one file fifty times. Goals: gap from the end of an answer to the
// next request ≤ 1.5 ms, wall and CPU ≤ 160 ms.
func BenchmarkTools50(b *testing.B) {
	p, f := newProgram(b, func(r modeltest.Request) modeltest.Reply {
		n := 0
		for _, m := range r.Messages {
			if m.Role == "tool" {
				n++
			}
		}
		if n < 50 {
			return modeltest.Calls(modeltest.Call{Name: "read", Args: fmt.Sprintf(`{"path":"file.txt","limit":%d}`, 50+n)})
		}
		return modeltest.Text("Done.")
	}), samples{}
	p.run(samples{}, "-p", "go")
	for b.Loop() {
		p.run(f, "-p", "read it fifty times")
	}
	f.report(b)
}

// BenchmarkStream measures an answer of 20,000 tokens that arrives as fast as possible. Goals: wall
// and CPU ≤ 200 ms.
func BenchmarkStream(b *testing.B) {
	answer := modeltest.Text(markdown(20_000)...)
	p, f := newProgram(b, func(modeltest.Request) modeltest.Reply { return answer }), samples{}
	for b.Loop() {
		p.run(f, "-p", "write at length")
	}
	f.report(b)
}

// pss returns the memory of a process in MiB, with its share of shared pages.
func pss(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kb) / 1024
		}
	}
	b.Fatal("no Pss line")
	return 0
}

// cpuOf returns the processor time of a running process. It adds up its threads, because their
// clock is finer than that of the process, which counts hundredths of a second.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		b.Fatalf("no threads of %d: %v", pid, err)
	}
	total := 0
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that ended meanwhile
		}
		n, err := strconv.Atoi(strings.Fields(string(data))[0])
		if err != nil {
			b.Fatal(err)
		}
		total += n
	}
	return time.Duration(total)
}
