//go:build unix

package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"jcode/internal/proc"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/programs"
	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/sandbox"
)

// shellRig is a shell in a temporary folder.
type shellRig struct {
	*builtin.Shell
	t    *testing.T
	root string
	exec tools.Tool
	job  tools.Tool
}

func newShell(t *testing.T, opts ...func(*builtin.ShellOptions)) *shellRig {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := builtin.ShellOptions{Dir: root}
	for _, f := range opts {
		f(&o)
	}
	s := builtin.NewShell(o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	list := s.Tools()
	return &shellRig{s, t, root, list[0], list[1]}
}

func call(name string, args any) tools.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return tools.Call{ID: "c", Name: name, Arguments: raw, Progress: func(tools.Progress) {}}
}

type m = map[string]any

// run executes a shell text.
func (r *shellRig) run(args m) tools.Result {
	r.t.Helper()
	res, err := r.exec.Run(context.Background(), call("exec", args))
	if err != nil {
		r.t.Fatalf("%v: %v", args, err)
	}
	return res
}

// touch creates an empty file in the workspace.
func (r *shellRig) touch(name string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.root, name), nil, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *shellRig) sh(cmd string) tools.Result { r.t.Helper(); return r.run(m{"cmd": cmd}) }

func data(t *testing.T, res tools.Result) builtin.ExecData {
	t.Helper()
	d, ok := res.Data.(builtin.ExecData)
	if !ok {
		t.Fatalf("data is %T", res.Data)
	}
	return d
}

func pidAlive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestAMachineWithoutAShellIsSaidToHaveNone(t *testing.T) {
	t.Parallel()
	r := newShell(t, func(o *builtin.ShellOptions) { o.Shell = []string{"/nowhere/sh", "-c"} })
	_, err := r.exec.Run(t.Context(), call("exec", m{"cmd": "echo hi"}))
	if err == nil || !strings.Contains(err.Error(), "this machine has no /nowhere/sh") || !strings.Contains(err.Error(), "the tools for files work") {
		t.Errorf("%v", err)
	}
}

func TestExecReturnsWhenTheShellEnds(t *testing.T) {
	t.Parallel()
	for _, cmd := range []string{
		"sleep 300 & echo done",
		"(while :; do echo x; sleep .1; done) & echo done",
		"sleep 300 >/dev/null 2>&1 & echo done",
	} {
		r := newShell(t)
		began := time.Now()
		res := r.sh(cmd)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s took %v", cmd, took)
		}
		if !strings.Contains(res.Text, "done") || !strings.Contains(res.Text, "still running as job 1: ") || res.Failed {
			t.Errorf("%s: %+v", cmd, res)
		}
		jobs := r.Jobs()
		if len(jobs) != 1 || !jobs[0].Leftover || len(jobs[0].Running) == 0 {
			t.Fatalf("jobs %+v", jobs)
		}
		if err := r.KillJob(1); err != nil {
			t.Fatal(err)
		}
		for _, p := range jobs[0].Running {
			if pidAlive(p.Pid) {
				t.Errorf("%s still lives", p.Command)
			}
		}
		if j := r.Jobs()[0]; j.State != "killed" {
			t.Errorf("state %q", j.State)
		}
	}
}

func TestExecGivesEndOfInputAtOnce(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	for cmd, want := range map[string]string{"cat": "(no output)", `read x; echo "[$x]"`: "[]", "cat <<'E'\nhi\nE": "hi", "echo a # c": "a"} {
		if res := r.sh(cmd); res.Text != want {
			t.Errorf("%q gives %q, want %q", cmd, res.Text, want)
		}
	}
	if _, err := exec.LookPath("python3"); err == nil {
		if res := r.sh("python3 -c 'input()'"); !strings.Contains(res.Text, "EOF") {
			t.Errorf("python: %q", res.Text)
		}
	}
}

func TestExecStartsNoEditorAndNoPager(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	r := newShell(t)
	r.sh("git init -q . && git config user.email a@b && git config user.name n && git config core.editor 'touch editor-ran;' && git config core.pager 'touch pager-ran;' && echo x > f && git add f")
	res := r.sh("git commit")
	if !strings.Contains(res.Text, "empty commit message") || *data(t, res).Code == 0 {
		t.Errorf("git commit: %q", res.Text)
	}
	if res := r.sh("git commit -qm one && git log --oneline"); !strings.Contains(res.Text, "one") {
		t.Errorf("git log: %q", res.Text)
	}
	for _, f := range []string{"editor-ran", "pager-ran"} {
		if _, err := os.Stat(filepath.Join(r.root, f)); err == nil {
			t.Error(f)
		}
	}
}

func TestExecCutsAtRuneBorders(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	for _, cmd := range []string{
		`i=0; while [ $i -lt 400 ]; do printf '────────────────────────────────────────────────────────────────────────────────────────────────────'; i=$((i+1)); done`,
		`awk 'BEGIN{for(i=0;i<20000;i++)printf "漢"}'`, `awk 'BEGIN{printf "a";for(i=0;i<20000;i++)printf "漢"}'`, `awk 'BEGIN{printf "aa";for(i=0;i<20000;i++)printf "漢"}'`,
	} {
		res := r.sh(cmd)
		if !utf8.ValidString(res.Text) || strings.ContainsRune(res.Text, utf8.RuneError) {
			t.Errorf("%s: not valid text", cmd)
		}
		if len(res.Text) > 31<<10 || !strings.Contains(res.Text, "left out here; the whole is in ") {
			t.Errorf("%s: %d bytes, no mark", cmd, len(res.Text))
		}
	}
}

func TestExecOutputIsHarmlessOnAScreen(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	var shown strings.Builder
	var mu sync.Mutex
	c := call("exec", m{"cmd": `printf 'a\rb\n\033[2J\033[?1049h\033[5;5H\033]0;t\007\033]52;c;eA==\007x\n'; printf 'split \033['; sleep .3; printf '31mred\n'; printf '10%%\r50%%\r100%%\nend'`})
	c.Progress = func(p tools.Progress) {
		mu.Lock()
		defer mu.Unlock()
		shown.WriteString(p.Output + p.Text)
	}
	res, err := r.exec.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if res.Text != "a\nb\nx\nsplit red\n100%\nend" {
		t.Errorf("text %q", res.Text)
	}
	if s := shown.String(); strings.ContainsAny(s, "\x1b\r\x07") || !strings.Contains(s, "split ") {
		t.Errorf("shown %q", s)
	}
}

func TestExecEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	for how, cancelled := range map[string]bool{"timeout": false, "interrupt": true} {
		r := newShell(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		args := m{"cmd": "echo $$ > pid; sh -c 'echo $$ > pid2; sleep 1000 & sleep 1000'; true"}
		if !cancelled {
			args["timeout_ms"] = 1000
		}
		pids := func() (out []int) {
			for _, f := range []string{"pid", "pid2"} {
				b, err := os.ReadFile(filepath.Join(r.root, f))
				if pid, convErr := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && convErr == nil {
					out = append(out, pid)
				}
			}
			return out
		}
		if cancelled {
			go func() {
				eventually.Holds(eventually.Limit, func() bool { return len(pids()) == 2 || ctx.Err() != nil })
				cancel()
			}()
		}
		res, err := r.exec.Run(ctx, call("exec", args))
		if err != nil {
			t.Fatal(err)
		}
		want, kind := "timed out after 1s", tools.KindTimeout
		if cancelled {
			want, kind = "interrupted by user", tools.KindCancelled
		}
		if !res.Failed || res.Kind != kind || !strings.Contains(res.Text, want) {
			t.Errorf("%s: %+v", how, res)
		}
		for _, pid := range pids() {
			if pidAlive(pid) {
				t.Errorf("%s: %d lives", how, pid)
			}
		}
		if jobs := r.Jobs(); len(jobs) != 0 {
			t.Errorf("%s: jobs %+v", how, jobs)
		}
	}
}

func TestExecSignalsStayInTheChildrensSession(t *testing.T) {
	if signal.Ignored(os.Interrupt) { // as in tests that run in the background; a child would ignore it too
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	r := newShell(t)
	res := r.sh("kill -INT 0")
	if !strings.Contains(res.Text, "ended by signal: interrupt") || !data(t, res).SignalTerminated || data(t, res).Code != nil {
		t.Errorf("%+v", res)
	}
}

func TestExecSaysThatItsFolderIsGone(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	r.sh(`rm -rf "$PWD"`)
	_, err := r.exec.Run(context.Background(), call("exec", m{"cmd": "ls"}))
	if err == nil || !strings.Contains(err.Error(), "does not exist any more") {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(r.root, 0o755); err != nil {
		t.Fatal(err)
	}
	if res := r.sh("echo back"); res.Text != "back" {
		t.Errorf("%q", res.Text)
	}
}

func TestExecReportsExitCodesAsTheyAre(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	for cmd, want := range map[string]struct {
		code       int
		text, fail string
	}{
		"exit 143":                           {143, "[exit code 143]", "exit status 143"},
		"echo y > f; grep zzz f":             {1, "[exit code 1]", "exit status 1"},
		"echo no >&2; exit 2":                {2, "no\n[exit code 2]", "exit status 2: no"},
		"true":                               {0, "(no output)", ""},
		"no-such-program-at-all 2>/dev/null": {127, "[exit code 127]", "exit status 127"},
	} {
		res := r.sh(cmd)
		d := data(t, res)
		if res.Failed || d.Code == nil || *d.Code != want.code || res.Text != want.text || d.Error != want.fail {
			t.Errorf("%s: %+v %+v", cmd, res, d)
		}
		if res.Display.ExitCode == nil || *res.Display.ExitCode != want.code {
			t.Errorf("%s: display %+v", cmd, res.Display)
		}
	}
}

func TestExecMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	r := newShell(t)
	before := peak()
	res := r.sh("yes | head -c 100000000")
	if grown := peak() - before; grown > 64<<20 {
		t.Errorf("grew by %d MiB", grown>>20)
	}
	if !strings.Contains(res.Text, "of 100000000 bytes left out here; the whole is in "+res.Display.Log) {
		t.Errorf("%q", res.Text[len(res.Text)/2-200:len(res.Text)/2+200])
	}
	info, err := os.Stat(res.Display.Log)
	if err != nil || info.Size() != 100000000 || info.Mode().Perm() != 0o600 {
		t.Errorf("log %v %v", info, err)
	}
}

// peak returns the memory that the Go runtime has obtained from the system.
func peak() uint64 {
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	return ms.Sys
}

func TestExecKeepsStreamsApartForScripts(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	script := call("exec", m{"cmd": "echo out; echo err >&2; echo out2"})
	script.Caller.Origin = tools.OriginScript
	res, err := r.exec.Run(context.Background(), script)
	if err != nil {
		t.Fatal(err)
	}
	d := data(t, res)
	if d.Stdout != "out\nout2\n" || d.Stderr != "err\n" || d.Truncated {
		t.Errorf("%+v", d)
	}
	big := data(t, r.sh("yes 0123456789 | head -c 3000000"))
	if !big.Truncated || len(big.Stdout) > 2<<20 || !strings.Contains(big.Stdout, "bytes left out") {
		t.Errorf("%d bytes, truncated %v", len(big.Stdout), big.Truncated)
	}
}

func TestExecRunsArgumentListsForScriptsOnly(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	c := call("exec", m{"argv": []string{"printf", "%s|", "a b", "$(touch x)", "*"}})
	if _, err := r.exec.Run(context.Background(), c); err == nil {
		t.Error("the model ran an argument list")
	}
	c.Caller.Origin = tools.OriginScript
	plan, err := r.exec.(tools.Planner).Plan(context.Background(), c)
	if err != nil || len(plan.Accesses) != 1 || len(plan.Accesses[0].Argv) != 5 || plan.Accesses[0].Command != "" {
		t.Fatalf("%+v %v", plan, err)
	}
	res, err := r.exec.Run(context.Background(), c)
	if err != nil || res.Text != "a b|$(touch x)|*|" {
		t.Errorf("%+v %v", res, err)
	}
}

func TestExecRefusesWhatCannotRun(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	if err := os.WriteFile(filepath.Join(r.root, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args m
		want string
	}{
		{m{}, "missing required argument: cmd"},
		{m{"cmd": " \n"}, "exec denied: the command is empty"},
		{m{"cmd": "ls", "dir": "none"}, "does not exist"},
		{m{"cmd": "ls", "dir": "file"}, "is a file"},
		{m{"cmd": "echo \x00"}, "NUL"},
		{m{"cmd": strings.Repeat("x", 200<<10)}, "write it to a file"},
	} {
		_, err := r.exec.Run(context.Background(), call("exec", tc.args))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.60v: %v", tc.args, err)
		}
	}
	if res := r.run(m{"cmd": "pwd", "dir": "/"}); res.Text != "/" {
		t.Errorf("%q", res.Text)
	}
}

func TestExecChildrenSeeNoKeys(t *testing.T) {
	t.Parallel()
	r := newShell(t, func(o *builtin.ShellOptions) {
		o.Env = func() []string {
			return proc.CommandEnv([]string{"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=sk-x", "GITHUB_TOKEN=t", "HOME=/h"}, proc.EnvRules{})
		}
	})
	res := r.sh("env")
	if strings.Contains(res.Text, "sk-x") || strings.Contains(res.Text, "GITHUB_TOKEN") || !strings.Contains(res.Text, "HOME=/h") {
		t.Errorf("%q", res.Text)
	}
}

func TestJobsRunOnAndTellTheirEnd(t *testing.T) {
	t.Parallel()
	ended := make(chan builtin.Job, 4)
	r := newShell(t, func(o *builtin.ShellOptions) { o.JobEnded = func(j builtin.Job) { ended <- j } })
	job := func(args m) tools.Result {
		t.Helper()
		res, err := r.job.Run(context.Background(), call("job", args))
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return res
	}
	if res := job(m{"action": "list"}); res.Text != "no background commands" {
		t.Errorf("%q", res.Text)
	}
	res := r.run(m{"cmd": "echo al''pha; while [ ! -e go ]; do sleep .02; done; echo t''wo; exit 3", "background": true})
	if !strings.Contains(res.Text, "Started job 1") || res.Failed {
		t.Fatalf("%+v", res)
	}
	first := res.Text
	eventually.True(t, "first output", func() bool {
		if !strings.Contains(first, "alpha") {
			first += job(m{"action": "output", "id": 1}).Text
		}
		return strings.Contains(first, "alpha")
	})
	if res := job(m{"action": "output", "id": 1}); strings.Contains(res.Text, "alpha") || !strings.Contains(res.Text, "(no new output)") || !strings.Contains(res.Text, "running") {
		t.Errorf("%q", res.Text)
	}
	if err := os.WriteFile(filepath.Join(r.root, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case j := <-ended:
		if j.ID != 1 || j.State != "exit 3" {
			t.Errorf("%+v", j)
		}
	case <-time.After(time.Minute):
		t.Fatal("nobody was told")
	}
	if res := job(m{"action": "output", "id": 1}); !strings.Contains(res.Text, "two") || !strings.Contains(res.Text, "exit 3") {
		t.Errorf("%q", res.Text)
	}
	for _, args := range []m{{"action": "output", "id": 9}, {"action": "kill"}} {
		if _, err := r.job.Run(context.Background(), call("job", args)); err == nil {
			t.Errorf("%v did not fail", args)
		}
	}
	r.run(m{"cmd": "sleep 1000 & sleep 1000", "background": true})
	if res := job(m{"action": "kill", "id": 2}); !strings.Contains(res.Text, "killed") {
		t.Errorf("%q", res.Text)
	}
}

func TestJobOfABackgroundedServerGoesOnUntilItsLastProcess(t *testing.T) {
	t.Parallel()
	ended := make(chan builtin.Job, 1)
	r := newShell(t, func(o *builtin.ShellOptions) { o.JobEnded = func(j builtin.Job) { ended <- j } })
	r.run(m{"cmd": "(while [ ! -e go ]; do sleep .02; done; echo late) & echo early", "background": true})
	eventually.True(t, "shell has ended", func() bool { return r.Jobs()[0].Leftover })
	if j := r.Jobs()[0]; !j.Ended.IsZero() || len(j.Running) == 0 {
		t.Fatalf("%+v", j)
	}
	if err := os.WriteFile(filepath.Join(r.root, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	<-ended
	out, err := os.ReadFile(r.Jobs()[0].Log)
	if err != nil || string(out) != "early\nlate\n" {
		t.Errorf("%q %v", out, err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	res := r.run(m{"cmd": "echo $$; trap '' TERM; sleep 1000 & sleep 1000", "background": true})
	eventually.True(t, "two processes", func() bool { return len(r.Jobs()[0].Running) >= 2 })
	running := r.Jobs()[0].Running
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range running {
		if pidAlive(p.Pid) {
			t.Errorf("%s lives after Close (%s)", p.Command, res.Text)
		}
	}
	if _, err := r.exec.Run(context.Background(), call("exec", m{"cmd": "ls"})); err == nil {
		t.Error("a closed shell started a command")
	}
}

func TestRunCommandForJcodeItself(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	out, code, err := r.RunCommand(context.Background(), "echo hi; exit 4", r.root, false)
	if out != "hi\n" || code != 4 || err != nil {
		t.Errorf("%q %d %v", out, code, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := r.RunCommand(ctx, "sleep 100", r.root, false); err == nil {
		t.Error("no error when cancelled")
	}
}

// noReading is the part of a Confiner for a system that can't confine to reading.
type noReading struct{}

func (noReading) CanRead() (bool, string) { return false, "not here" }

func (noReading) ConfineToReading(proc.Spec, sandbox.Reading) (proc.Spec, func() error, error) {
	return proc.Spec{}, nil, errors.New("not here")
}

func (noReading) BlamedForReading(string, int, string) string { return "" }

// stopper is a sandbox that forbids writing: it prefixes the command.
type stopper struct {
	noReading
	blamed string
}

func (stopper) Available() bool { return true }

func (s stopper) ConfineProgram(spec proc.Spec, _ sandbox.Program) (proc.Spec, sandbox.Watched, error) {
	spec.Argv = append([]string{"env", "CONFINED=1"}, spec.Argv...)
	return spec, nil, nil
}

func (s stopper) Blamed(tail string, code int) string {
	if code != 0 && strings.Contains(tail, "Permission denied") {
		return s.blamed
	}
	return ""
}

func TestExecOffersToLeaveTheSandboxThatStoppedIt(t *testing.T) {
	t.Parallel()
	var asked []tools.GateRequest
	answer := tools.Decision{Allow: false, Reason: "denied by user"}
	r := newShell(t, func(o *builtin.ShellOptions) {
		o.Confiner = stopper{blamed: "writing outside the project"}
		o.Outside = func(_ context.Context, req tools.GateRequest) tools.Decision {
			asked = append(asked, req)
			return answer
		}
	})
	confined := func(cmd string) tools.Result {
		c := call("exec", m{"cmd": cmd})
		c.Decision.Sandbox = true
		res, err := r.exec.Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := confined(`echo "in $CONFINED"`); res.Text != "in 1" || len(asked) != 0 {
		t.Errorf("%+v, asked %d", res, len(asked))
	}
	const stopped = `if [ -n "$CONFINED" ]; then echo Permission denied; exit 1; fi; echo outside`
	if res := confined(stopped); !strings.Contains(res.Text, "it was not run outside: denied by user") || len(asked) != 1 ||
		!strings.Contains(strings.Join(asked[0].Plan.Notes, " "), "writing outside the project") {
		t.Errorf("%+v, asked %+v", res, asked)
	}
	answer.Allow = true
	if res := confined(stopped); !strings.Contains(res.Text, "this is the run outside]\noutside") {
		t.Errorf("%+v", res)
	}
}

// A command that runs unasked because it only reads can only read. If it needs more, the person is
// asked, as for any other command.
func TestVouchedCommandThatNeedsMoreAsks(t *testing.T) {
	t.Parallel()
	var asked []tools.GateRequest
	answer := tools.Decision{Allow: false, Reason: "denied by user"}
	var root string
	r := newShell(t, func(o *builtin.ShellOptions) {
		root = o.Dir
		o.Confiner = sandbox.New("", func() sandbox.Policy { return sandbox.Policy{Roots: []string{root}} })
		o.Outside = func(_ context.Context, req tools.GateRequest) tools.Decision {
			asked = append(asked, req)
			return answer
		}
	})
	if ok, why := sandbox.New("", nil).CanRead(); !ok {
		t.Skip(why)
	}
	vouched := func(cmd string) tools.Result {
		c := call("exec", m{"cmd": cmd})
		c.Decision.Vouched = &tools.Vouched{}
		res, err := r.exec.Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := vouched("echo in; ls >/dev/null"); res.Text != "in" || len(asked) != 0 {
		t.Errorf("%+v, asked %d", res, len(asked))
	}
	if res := vouched("echo x > made"); !strings.Contains(res.Text, "confined to reading: it was denied something") || !strings.Contains(res.Text, "it was not run outside: denied by user") || len(asked) != 1 {
		t.Errorf("%+v, asked %+v", res, asked)
	}
	if _, err := os.Stat(filepath.Join(root, "made")); err == nil {
		t.Error("it was made")
	}
	answer.Allow = true
	if res := vouched("echo x > made && cat made"); !strings.Contains(res.Text, "this is the run outside]\nx") {
		t.Errorf("%+v", res)
	}
	if res := vouched("cat none"); len(asked) != 2 || !strings.Contains(res.Text, "exit code 1") {
		t.Errorf("an ordinary failure asks: %+v", res)
	}
}

// A vouched command may start another program by its name, but not one of the project.
func TestVouchedCommandStartsNoHelperOfTheProject(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("zcat"); err != nil {
		t.Skip(err)
	}
	for _, confiner := range []builtin.Confiner{nil, stopper{}} {
		r := newShell(t, func(o *builtin.ShellOptions) {
			bin := filepath.Join(o.Dir, "venv", "bin")
			if err := os.MkdirAll(bin, 0o755); err != nil {
				t.Fatal(err)
			}
			programs.File(t, filepath.Join(bin, "gzip"), "#!/bin/sh\necho HELPER RAN\n", 0o755)
			o.Env = func() []string { return []string{"PATH=" + bin + ":" + os.Getenv("PATH")} }
			o.Confiner = confiner
		})
		for _, vouched := range []*tools.Vouched{nil, {}} {
			c := call("exec", m{"cmd": "echo | zcat -f"})
			c.Decision.Vouched = vouched
			res, err := r.exec.Run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if ran := strings.Contains(res.Text, "HELPER RAN"); ran != (vouched == nil) {
				t.Errorf("vouched %v: %s", vouched, res.Text)
			}
		}
	}
}

// Environment variables that lead into the project don't make a command run another program.
func TestVouchedCommandRunsNoCodeThatVariablesName(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, confiner := range []builtin.Confiner{nil, stopper{}} {
		r := newShell(t, func(o *builtin.ShellOptions) {
			script := filepath.Join(o.Dir, "env.sh")
			if err := os.WriteFile(script, []byte("echo CODE RAN\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			o.Shell = []string{bash, "-c"}
			o.Env = func() []string {
				return []string{"PATH=" + os.Getenv("PATH"), "BASH_ENV=" + script, "BASH_FUNC_cat%%=() { echo CODE RAN; }", "LD_PRELOAD=" + filepath.Join(o.Dir, "CODE RAN.so")}
			}
			o.Confiner = confiner
		})
		for _, vouched := range []*tools.Vouched{nil, {}} {
			c := call("exec", m{"cmd": "cat env.sh | wc -l"})
			c.Decision.Vouched = vouched
			res, err := r.exec.Run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			if ran := strings.Contains(res.Text, "CODE RAN"); ran != (vouched == nil) {
				t.Errorf("vouched %v: %s", vouched, res.Text)
			}
		}
	}
}

// `env` runs unasked, so it must not print secrets of the environment.
func TestVouchedCommandGetsNoSecrets(t *testing.T) {
	t.Parallel()
	r := newShell(t, func(o *builtin.ShellOptions) {
		o.Keep = []string{"KEPT_PASS"}
		o.Env = func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "DB_PASS=hunter2", "KEPT_PASS=yes", "DATABASE_URL=postgres://u:hunter2@h/db", "LANG=C"}
		}
	})
	for _, line := range []string{"env", "printenv", "printenv DB_PASS; true", "echo $DB_PASS $DATABASE_URL $KEPT_PASS"} {
		c := call("exec", m{"cmd": line})
		c.Decision.Vouched = &tools.Vouched{}
		res, err := r.exec.Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(res.Text, "hunter2") || !strings.Contains(res.Text, "yes") && line != "printenv DB_PASS; true" {
			t.Errorf("%s: %s", line, res.Text)
		}
	}
}

// leaky is a sandbox that can't protect a file, and notices when it was created.
type leaky struct {
	noReading
	file string
}

func (leaky) Available() bool { return true }

func (l leaky) ConfineProgram(spec proc.Spec, _ sandbox.Program) (proc.Spec, sandbox.Watched, error) {
	return spec, l, nil
}

func (l leaky) Open() []string { return []string{l.file} }

func (l leaky) Changed() []string {
	if _, err := os.Lstat(l.file); err != nil {
		return nil
	}
	return []string{l.file}
}

func (l leaky) Blamed(string, int) string { return "" }

// A change of protected files is reported once, whether the command is waited for or not, and also
// if a job makes it, or a process that a command left running.
func TestProtectedFilesThatConfinedCommandsMakeAreTold(t *testing.T) {
	t.Parallel()
	const made = "it made or changed protected files"
	setup := func(t *testing.T) (r *shellRig, ended chan builtin.Job, confined func(m) string, output func() string) {
		ended = make(chan builtin.Job, 4)
		r = newShell(t, func(o *builtin.ShellOptions) {
			o.Confiner = leaky{file: filepath.Join(o.Dir, ".mcp.json")}
			o.JobEnded = func(j builtin.Job) { ended <- j }
		})
		confined = func(args m) string {
			c := call("exec", args)
			c.Decision.Sandbox = true
			res, err := r.exec.Run(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			return res.Text
		}
		output = func() string {
			res, err := r.job.Run(context.Background(), call("job", m{"action": "output", "id": 1}))
			if err != nil {
				t.Fatal(err)
			}
			return res.Text
		}
		return r, ended, confined, output
	}
	end := func(t *testing.T, ended chan builtin.Job) builtin.Job {
		select {
		case j := <-ended:
			return j
		case <-time.After(60 * time.Second):
			t.Fatal("the job does not end")
			panic("unreachable")
		}
	}
	t.Run("in the foreground", func(t *testing.T) {
		_, _, confined, _ := setup(t)
		if text := confined(m{"cmd": "echo '{}' > .mcp.json"}); !strings.Contains(text, made) || !strings.Contains(text, ".mcp.json") {
			t.Errorf("%q", text)
		}
	})
	t.Run("by a job, in its output", func(t *testing.T) {
		r, ended, confined, output := setup(t)
		confined(m{"cmd": "while [ ! -e go ]; do sleep .02; done; echo '{}' > .mcp.json; while [ ! -e stop ]; do sleep .02; done", "background": true})
		if text := output(); strings.Contains(text, made) {
			t.Errorf("told before it was made: %q", text)
		}
		r.touch("go")
		eventually.True(t, "told", func() bool { return strings.Contains(output(), made) })
		if text := output(); strings.Contains(text, made) {
			t.Errorf("told twice: %q", text)
		}
		r.touch("stop")
		if j := end(t, ended); j.News != "" {
			t.Errorf("told again at its end: %q", j.News)
		}
	})
	t.Run("by a job, at its end", func(t *testing.T) {
		r, ended, confined, output := setup(t)
		confined(m{"cmd": "while [ ! -e go ]; do sleep .02; done; echo '{}' > .mcp.json", "background": true})
		r.touch("go")
		if j := end(t, ended); !strings.Contains(j.News, made) {
			t.Errorf("%+v", j)
		}
		if text := output(); strings.Contains(text, made) {
			t.Errorf("told twice: %q", text)
		}
	})
	t.Run("by what a command left running", func(t *testing.T) {
		r, ended, confined, _ := setup(t)
		if text := confined(m{"cmd": "(while [ ! -e go ]; do sleep .02; done; echo '{}' > .mcp.json) & echo done"}); strings.Contains(text, made) {
			t.Errorf("%q", text)
		}
		r.touch("go")
		if j := end(t, ended); !strings.Contains(j.News, made) {
			t.Errorf("%+v", j)
		}
	})
}

func BenchmarkExec(b *testing.B) {
	s := builtin.NewShell(builtin.ShellOptions{Dir: b.TempDir()})
	defer s.Close()
	exec := s.Tools()[0]
	c := call("exec", m{"cmd": "true"})
	for b.Loop() {
		if _, err := exec.Run(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExecOutput(b *testing.B) {
	s := builtin.NewShell(builtin.ShellOptions{Dir: b.TempDir()})
	defer s.Close()
	exec := s.Tools()[0]
	c := call("exec", m{"cmd": "yes 'a line of output as tests print them, more or less' | head -c 50000000"})
	b.SetBytes(50_000_000)
	for b.Loop() {
		if _, err := exec.Run(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}
