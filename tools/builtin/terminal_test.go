//go:build linux || darwin

package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/tools"
	"jcode/tools/builtin"
	"jcode/tools/permission"
)

// console is a command in a terminal, driven by calls that the gate judges.
type console struct {
	*shellRig
	d     *tools.Dispatcher
	asked []tools.Question
	say   tools.AnswerScope
	mode  tools.Mode
}

func (c *console) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	c.asked = append(c.asked, q)
	return tools.Answer{Scope: c.say, Option: -1}, nil
}

func newConsole(t *testing.T, opts ...func(*builtin.ShellOptions)) *console {
	t.Helper()
	if testing.Short() {
		t.Skip("starts programs")
	}
	c := &console{shellRig: newShell(t, append(opts, func(o *builtin.ShellOptions) { o.Bash = builtin.Bash() })...), say: tools.AnswerOnce, mode: tools.ModeAsk}
	gate, err := permission.New(permission.Options{Places: permission.Places{Roots: []string{c.root}}})
	if err != nil {
		t.Fatal(err)
	}
	reg := tools.NewRegistry()
	for _, tool := range c.Tools() {
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, tool); err != nil {
			t.Fatal(err)
		}
	}
	c.d = &tools.Dispatcher{Registry: reg, Gate: gate}
	return c
}

// do makes a call and returns its text.
func (c *console) do(name string, args m) string {
	c.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.d.Dispatch(c.t.Context(), tools.Call{ID: "c", Name: name, Arguments: raw, Caller: tools.Caller{
		Session: "s", Origin: tools.OriginModel, Asker: c, Mode: func() tools.Mode { return c.mode },
	}}).Result.Text
}

// start starts a program that this machine must have.
func (c *console) start(program, line string) {
	c.t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		c.t.Skipf("%s is not on this machine", program)
	}
	if out := c.do("exec", m{"cmd": line, "tty": true}); !strings.Contains(out, "Started job 1 in a terminal") {
		c.t.Fatalf("start: %s", out)
	}
	c.asked = nil
}

// wait waits until the screen of job 1 shows a pattern.
func (c *console) wait(pattern string) string {
	c.t.Helper()
	out := c.do("job", m{"action": "wait", "id": 1, "pattern": pattern, "timeout_ms": 60000})
	if !strings.Contains(out, "the pattern is there") {
		c.t.Fatalf("%q does not come: %s", pattern, out)
	}
	return out
}

func (c *console) write(text, keys string) string {
	c.t.Helper()
	return c.do("job", m{"action": "write", "id": 1, "text": text, "keys": keys})
}

// questions returns how many were asked since the last call.
func (c *console) questions() int {
	n := len(c.asked)
	c.asked = nil
	return n
}

func (c *console) ends(pattern string) {
	c.t.Helper()
	out := c.do("job", m{"action": "wait", "id": 1, "pattern": "no such line ever", "timeout_ms": 60000})
	if !strings.Contains(out, pattern) {
		c.t.Errorf("it ends otherwise than by %q: %s", pattern, out)
	}
}

func TestAREPLIsTalkedToAndEachTextAsks(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.start("python3", "python3 -q")
	c.wait(`>>> `)
	c.write("print(6*7)\n", "")
	c.wait(`(?m)^42$`)
	if n := c.questions(); n != 1 {
		t.Errorf("code for a REPL asked %d times", n)
	}
	c.say = tools.AnswerNo
	if out := c.write("open('made','w')\n", ""); !strings.Contains(out, "denied") {
		t.Errorf("refused code: %s", out)
	}
	if q := c.asked[0]; !strings.Contains(q.Title, "python3") || !strings.Contains(q.Command, "open(") || len(q.Options) != 3 || !strings.HasPrefix(q.Options[1].Label, "until I leave: whatever is typed into python3") {
		t.Errorf("the question: %+v", q)
	}
	c.say = tools.AnswerSession
	c.write("a=1\n", "")
	c.questions()
	c.write("print('al'+'lowed')\n", "")
	c.wait("allowed")
	c.write("import time; time.sleep(1000)\n", "")
	c.write("", "ctrl-c")
	c.wait("KeyboardInterrupt")
	c.write("", "ctrl-d")
	c.ends("it has ended")
	if n := c.questions(); n != 0 {
		t.Errorf("after a yes for this job, and for keys, %d questions", n)
	}
	if _, err := os.Stat(filepath.Join(c.root, "made")); err == nil {
		t.Error("what was refused has run")
	}
}

func TestTextForAShellIsJudgedAsACommandLine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" { //nolint:forbidigo // what a program's folder is can be told there only
		t.Skip("the shell's folder is known on Linux only")
	}
	c := newConsole(t)
	c.start("bash", "bash --norc --noprofile -i")
	c.wait(`[$#]`)
	c.touch("here.txt")
	c.write("ls\n", "")
	c.wait("here.txt")
	if n := c.questions(); n != 0 {
		t.Errorf("ls asked %d times", n)
	}
	c.say = tools.AnswerNo
	for what, in := range map[string][2]string{
		"a command that writes":         {"touch made\n", ""},
		"one without its Enter":         {"touch made", ""},
		"a word of the history":         {"!!\n", ""},
		"a quote that stays open":       {"echo '\n", ""},
		"a completion":                  {"touch ma\t", ""},
		"another program and its input": {"ls\npython3 -c 'open(\"made\",\"w\")'\n", ""},
	} {
		if out := c.write(in[0], in[1]); !strings.Contains(out, "denied by user") {
			t.Errorf("%s: %s", what, out)
		}
	}
	c.questions()
	c.say = tools.AnswerOnce
	c.write("ls # touch made", "")
	c.write("", "home")
	c.say = tools.AnswerNo
	if out := c.write("", "enter"); !strings.Contains(out, "denied by user") {
		t.Errorf("Enter for a line that keys edited: %s", out)
	}
	if out := c.write("ls\n", ""); !strings.Contains(out, "denied by user") {
		t.Errorf("a text amid such a line: %s", out)
	}
	c.questions()
	c.write("", "ctrl-c")
	c.write("ls", "enter")
	if n := c.questions(); n != 0 {
		t.Errorf("after ctrl-c, a line that only reads asked %d times", n)
	}
	c.say = tools.AnswerOnce
	c.write("python3 -q 2>/dev/null || cat\n", "")
	c.wait(`>>> |cat$`)
	c.questions()
	c.say = tools.AnswerNo
	if out := c.write("ls\n", ""); !strings.Contains(out, "denied by user") {
		t.Errorf("a command line for a REPL: %s", out)
	}
	if _, err := os.Stat(filepath.Join(c.root, "made")); err == nil {
		t.Error("what was refused has run")
	}
}

// secrets are passwords that a person gives, one after the other.
func secrets(asked chan<- builtin.SecretQuestion, give ...string) func(*builtin.ShellOptions) {
	var mu sync.Mutex
	return func(o *builtin.ShellOptions) {
		o.Secret = func(_ context.Context, q builtin.SecretQuestion) (string, bool) {
			mu.Lock()
			defer mu.Unlock()
			asked <- q
			if len(give) == 0 {
				return "", false
			}
			s := give[0]
			give = give[1:]
			return s, true
		}
	}
}

func TestAPasswordGoesToTheProgramAlone(t *testing.T) {
	t.Parallel()
	asked := make(chan builtin.SecretQuestion, 3)
	logs := t.TempDir()
	c := newConsole(t, secrets(asked, "wrong-horse", "battery-staple"), func(o *builtin.ShellOptions) { o.Logs = logs })
	c.start("bash", `bash -c 'until [ "$p" = battery-staple ]; do read -rsp "Password for ann: " p; echo; done; echo lo''gged in; read -r wait'`)
	out := c.wait("logged in")
	for range 2 {
		q := <-asked
		if q.Job != 1 || !strings.Contains(q.Prompt, "Password for ann:") || q.Program != "bash" || q.Caller.Session != "s" {
			t.Errorf("the question: %+v", q)
		}
	}
	out += c.do("job", m{"action": "output", "id": 1}) + c.do("job", m{"action": "read", "id": 1})
	c.do("job", m{"action": "kill", "id": 1})
	files, err := os.ReadDir(logs)
	if err != nil || len(files) == 0 {
		t.Fatal("no log", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(logs, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out += string(b)
	}
	for _, secret := range []string{"wrong-horse", "battery-staple'"} {
		if strings.Contains(strings.ReplaceAll(out, "= battery-staple", ""), secret) {
			t.Errorf("%s is in results or logs: %s", secret, out)
		}
	}
}

func TestAModelCannotTypeAPassword(t *testing.T) {
	t.Parallel()
	asked := make(chan builtin.SecretQuestion, 3)
	c := newConsole(t, secrets(asked))
	c.start("bash", `bash -c 'read -rsp "Password: " p; echo "[$p]"'`)
	c.wait("Password:")
	<-asked
	if out := c.write("guess\n", ""); !strings.Contains(out, "not for you to type") {
		t.Errorf("it typed one: %s", out)
	}
	if out := c.do("job", m{"action": "read", "id": 1}); !strings.Contains(out, "waits for a password") {
		t.Errorf("it is not told: %s", out)
	}
	c.write("", "ctrl-c")
	c.ends("signal: interrupt")
	if n := c.questions(); n != 0 {
		t.Errorf("%d questions", n)
	}
}

func TestAJobInATerminalIsKilledWithWhatItStarted(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.start("bash", "bash --norc -ic 'sleep 1000 & sleep 1001'")
	out := c.do("job", m{"action": "kill", "id": 1})
	if !strings.Contains(out, "killed") || len(c.Jobs()[0].Running) > 0 {
		t.Errorf("%s: %v", out, c.Jobs()[0].Running)
	}
}

func TestWithoutTerminalsACommandHasPipesAndSaysSo(t *testing.T) {
	t.Parallel()
	c := newConsole(t, func(o *builtin.ShellOptions) { o.NoTerminals = true })
	if out := c.do("exec", m{"cmd": "read a; echo got $a", "tty": true}); !strings.Contains(out, "no terminals on this system") {
		t.Errorf("start: %s", out)
	}
	if out := c.write("", "up"); !strings.Contains(out, "no keys but enter") {
		t.Errorf("a key: %s", out)
	}
	if out := c.write("this", "enter"); !strings.Contains(out, "got this") {
		t.Errorf("a text: %s", out)
	}
}

func TestAPersonTakesATerminalOver(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.start("bash", "bash --norc --noprofile -i")
	c.wait(`[$#]`)
	w, err := c.ShowJob(1, 61, 17)
	if err != nil {
		t.Fatal(err)
	}
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var shown sync.WaitGroup
	shown.Go(func() {
		if err := w.Copy(out); err != nil {
			t.Error(err)
		}
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.Type([]byte("echo si''ze $(stty size)\r")); err != nil {
		t.Error(err)
	}
	var seen strings.Builder
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
		t.Fatal(err)
	}
	b := make([]byte, 1<<10)
	for !strings.Contains(seen.String(), "size 17 61") {
		n, err := r.Read(b)
		seen.Write(b[:n])
		if err != nil {
			t.Fatalf("%v: %q", err, seen.String())
		}
	}
	w.Close()
	for err == nil { // what is left
		_, err = r.Read(b)
	}
	shown.Wait()
	c.say = tools.AnswerNo
	if out := c.write("ls\n", ""); runtime.GOOS == "linux" && !strings.Contains(out, "denied by user") { //nolint:forbidigo // as above
		t.Errorf("a text behind a line that a person may have begun: %s", out)
	}
}
