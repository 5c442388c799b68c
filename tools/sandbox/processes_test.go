//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/proc"
	"jcode/tools/sandbox"
)

// withProcesses is a rig on a machine where commands have processes of their own.
func withProcesses(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	if !r.Report().Processes {
		t.Skipf("no processes of their own here: %v", r.Report().Why)
	}
	return r
}

// start starts a shell text confined in the workspace, without waiting.
func (r *rig) start(line string) (*proc.Process, *os.File) {
	r.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = read.Close() })
	spec, _, err := r.Confine(proc.Spec{Argv: []string{"/bin/sh", "-c", line}, Dir: r.project, Env: proc.CommandEnv(os.Environ(), proc.EnvRules{}), Stdout: write, Stderr: write})
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := proc.Start(spec)
	_ = write.Close()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			r.t.Error(err)
		}
	})
	return p, read
}

func TestConfinedCommandsSeeNoProcessesOfOthers(t *testing.T) {
	r := withProcesses(t)
	other := exec.Command("sleep", "98765")
	other.Env = []string{"OTHERS_SECRET=here"}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	pid := strconv.Itoa(other.Process.Pid)
	for _, line := range []string{
		"cat /proc/[0-9]*/cmdline | tr '\\0' ' '",
		"cat /proc/[0-9]*/environ /proc/1/environ | tr '\\0' '\\n' | grep OTHERS",
		"cat /proc/" + pid + "/cmdline /proc/" + pid + "/status",
		"ls -l /proc/" + pid + "/fd /proc/" + pid + "/cwd/",
		"for f in /proc/[0-9]*/comm; do cat $f; done",
		"ps -ef || true", "pgrep -fa 9876[5] || true",
	} {
		if out, _ := r.sh(line); strings.Contains(out, "98765 ") || strings.Contains(out, "here") || strings.Contains(out, "sleep\n") || strings.Contains(out, "State:") {
			t.Errorf("%s sees it:\n%.500s", line, out)
		}
	}
	for _, signal := range []string{"-0", "-TERM", "-KILL", "-STOP"} {
		if out, code := r.sh("kill " + signal + " " + pid); code == 0 {
			t.Errorf("kill %s: %s", signal, out)
		}
	}
	if err := other.Process.Signal(os.Interrupt); err != nil {
		t.Errorf("it was ended: %v", err)
	}
	// Its own processes are all there, under numbers that fit.
	out, code := r.sh(`sleep 5 & test -d /proc/$! && test -d /proc/$$ && kill -0 $! && kill $! && readlink /proc/self/exe > /dev/null && echo fits`)
	if code != 0 || !strings.Contains(out, "fits") {
		t.Errorf("its own: %d %s", code, out)
	}
}

// The first process keeps rights in the namespaces that the command has not: nobody may get at them.
func TestConfinedCommandsGetNoHoldOfTheirFirstProcess(t *testing.T) {
	r := withProcesses(t)
	for _, line := range []string{
		"cat /proc/1/environ", "cat /proc/1/maps", "head -c 1 /proc/1/mem", "ls /proc/1/root/", "readlink /proc/1/fd/1", "readlink /proc/1/exe", "cat /proc/1/task/*/environ",
		"echo x > /proc/1/comm", "echo 500 > /proc/1/oom_score_adj", "kill -KILL 1; kill -STOP 1; kill -TERM 1; sleep 0.1; cat /proc/1/fd/0",
		"nsenter -t 1 -m true", "mount -t proc proc /proc", "umount /proc", "unshare -p true", "strace -p 1 2>&1 | grep -q attached", "gdb -p 1 -batch 2>&1 | grep -q '^0x'",
		`python3 -c 'import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else 1)'`,
	} {
		if out, code := r.sh(line); code == 0 {
			t.Errorf("%s works: %s", line, out)
		}
	}
	out, code := r.sh("grep CapEff /proc/self/status")
	var rights uint64
	if _, err := fmt.Sscanf(out, "CapEff: %x", &rights); err != nil || code != 0 || rights&(1<<12|1<<19|1<<21) != 0 { // of networks, tracing, administration
		t.Errorf("rights: %d %s %v", code, out, err)
	}
	if out, _ := r.sh("tr '\\0' ' ' < /proc/1/cmdline"); strings.ContainsAny(out, "{/") && strings.Contains(out, r.base) {
		t.Errorf("process 1 shows its order: %.200s", out)
	}
}

func TestTheEndOfAConfinedCommandIsItsOwn(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		for line, want := range map[string]string{
			"exit 0": "0 ", "exit 7": "7 ", "kill -KILL $$": "-1 killed", "kill -TERM $$; sleep 5": "-1 terminated", "exit 137": "137 ",
			"(exit 3)": "3 ", "sleep 0.05 & exit 4": "4 ", "trap 'exit 9' TERM; kill -TERM $$; sleep 1": "9 ", "nosuchprogram": "127 ",
		} {
			p, _ := r.start(line)
			if e := p.Exit(); fmt.Sprintf("%d %s", e.Code, e.Signal) != want {
				t.Errorf("%s: %+v, want %s", line, e, want)
			}
		}
	})
}

// What a command leaves running is told of and can be ended; the command itself is over.
func TestWhatAConfinedCommandLeavesRunningIsKnown(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		p, out := r.start("sleep 300 & setsid sleep 301 > /dev/null 2>&1 & sleep 0.2; echo started")
		if e := p.Exit(); e.Code != 0 {
			t.Fatalf("%+v", e)
		}
		line := make([]byte, 8)
		if _, err := io.ReadFull(out, line); err != nil || string(line) != "started\n" {
			t.Fatalf("%q %v", line, err)
		}
		var names []string
		for _, i := range p.Running() {
			names = append(names, i.Command)
		}
		if got := strings.Join(names, ", "); !strings.Contains(got, "sleep 300") || !strings.Contains(got, "sleep 301") || strings.Contains(got, "jcode") || len(names) != 2 {
			t.Errorf("left: %s", got)
		}
		if err := p.Kill(); err != nil || len(p.Running()) > 0 {
			t.Errorf("after the kill: %v %v", err, p.Running())
		}
	})
}

func TestAConfinedCommandIsAskedToEnd(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		p, out := r.start("trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.05; done")
		line := make([]byte, 6)
		if _, err := io.ReadFull(out, line); err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(context.Background(), 20*time.Second); err != nil {
			t.Error(err)
		}
		rest, err := io.ReadAll(out)
		if e := p.Exit(); e.Code != 5 || err != nil || !strings.Contains(string(rest), "asked") {
			t.Errorf("%+v %q %v", e, rest, err)
		}
	})
}

// Where /proc can't be mounted, as in some containers, commands are confined as before.
func TestCommandsAreConfinedWithoutProcessesOfTheirOwn(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skip("no namespaces here")
	}
	r.WithoutProcesses()
	writesOnlyWhereItMay(t, r)
	networkIsCut(t, r)
	if lines := strings.Join(r.Report().Lines(), "\n"); !strings.Contains(lines, "names and command lines of your other processes can't be kept from them") {
		t.Error(lines)
	}
}

// BenchmarkConfined measures a command that does nothing, from its start to its end: as it is, kept to reading, in the
// sandbox, and there without processes of its own. best is the fastest run, which other programs of the machine disturb
// least.
func BenchmarkConfined(b *testing.B) {
	for _, way := range []string{"not", "to reading", "in the sandbox", "in the sandbox, without processes"} {
		b.Run(way, func(b *testing.B) {
			r := newRig(b)
			if way == "in the sandbox, without processes" {
				r.WithoutProcesses()
			}
			best, spent := time.Hour, cpu()
			for b.Loop() {
				began := time.Now()
				spec, done, err := r.confined(way, proc.Spec{Argv: []string{"/bin/true"}, Dir: r.project, Env: proc.CommandEnv(os.Environ(), proc.EnvRules{})})
				if err != nil {
					b.Fatal(err)
				}
				p, err := proc.Start(spec)
				if err != nil {
					b.Fatal(err)
				}
				if e := p.Exit(); e.Code != 0 {
					b.Fatal(e)
				}
				best = min(best, time.Since(began))
				if err := done(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			b.ReportMetric(float64((cpu()-spent).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// cpu returns the processor time of this process and of its children that ended.
func cpu() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return all
}

func (r *rig) confined(way string, spec proc.Spec) (proc.Spec, func() error, error) {
	switch way {
	case "not":
		return spec, func() error { return nil }, nil
	case "to reading":
		return r.ConfineToReading(spec, sandbox.Reading{})
	}
	spec, _, err := r.Confine(spec)
	return spec, func() error { return nil }, err
}
