package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"jcode/cli"
	"jcode/cli/config"
	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/lsptest"
	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
	"jcode/tools/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command { // it has the environment of the server that it confines
		os.Exit(cli.Main(os.Args[1:], cli.System()))
	}
	mcptest.Main() // this binary also acts as the MCP servers and the language server
	lsptest.Main()
	// jcode starts its own executable, here this test binary, as a Lua host, a sandbox and a server.
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(cli.Main(os.Args[1:], ruled()))
	}
	if filepath.Base(os.Args[0]) != "jcode" { // jcode itself respects nohup
		terminal.HeedSignals()
	}
	beside.Run(2) // most tests wait for programs
	testscript.Main(m, map[string]func(){
		"jcode": func() { os.Exit(cli.Main(os.Args[1:], ruled())) },
	})
}

// ruled returns the streams of a program whose administrator's settings are where the test says. The program itself
// has no such variable.
func ruled() cli.Streams {
	std := cli.System()
	if dir := os.Getenv("TEST_MANAGED"); dir != "" {
		std.Managed = config.ManagedPlace{Dir: dir, Owner: os.Getuid()}
	}
	return std
}

// TestScripts runs the real program with the scripts in testdata/script. A script begins in a project folder
// that contains the script's files; its home is a folder next to it. Commands that we add:
//
//	model FILE     starts a scripted model server that answers by the lines of FILE, and
//	               points OPENAI_BASE_URL at it
//	requests N     checks how many requests it got
//	request N TEXT checks that request N (from 0) contains TEXT; with ! that it does not
//	lines FILE     checks that each line of FILE (or stdout) is a JSON object
//
// In a short run it is one script in three: each runs whole programs, one after the other.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txt")
	if err != nil || len(scripts) < 60 {
		t.Fatalf("%d scripts: %v", len(scripts), err)
	}
	if testing.Short() {
		for i := 1; i < len(scripts); i++ {
			scripts = slices.Delete(scripts, i, min(i+2, len(scripts)))
		}
	}
	testscript.Run(t, testscript.Params{
		Files: scripts,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "landlock":
				return sandbox.Kernel() > 0, nil
			case "race":
				return slack > 1, nil
			case "mounts":
				return exec.Command("unshare", "-rm", "true").Run() == nil, nil
			case "traced":
				return exec.Command("strace", "-qq", "-o", os.DevNull, "-e", "inject=flock:error=ENOLCK", "true").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "-home" // outside the project
			env.Defer(func() { _ = os.RemoveAll(home) })
			for _, name := range []string{"HOME", "JCODE_HOME"} {
				env.Setenv(name, home)
			}
			env.Setenv("GOCACHE", goCache())
			env.Setenv("GOFLAGS", "-mod=mod")
			env.Values[serverKey{}] = &scriptState{}
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"model": startModel, "requests": countRequests, "request": checkRequest, "lines": checkLines,
		},
	})
}

func goCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}

// tsTB lets the model server report to a script's test.
type tsTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (t tsTB) Helper()                   {}
func (t tsTB) Cleanup(f func())          { t.ts.Defer(f) }
func (t tsTB) Errorf(f string, a ...any) { t.ts.Fatalf(f, a...) }
func (t tsTB) Fatalf(f string, a ...any) { t.ts.Fatalf(f, a...) }
func (t tsTB) Error(a ...any)            { t.ts.Fatalf("%s", fmt.Sprint(a...)) }
func (t tsTB) Fatal(a ...any)            { t.ts.Fatalf("%s", fmt.Sprint(a...)) }
func (t tsTB) Logf(f string, a ...any)   { t.ts.Logf(f, a...) }
func (t tsTB) Log(a ...any)              { t.ts.Logf("%s", fmt.Sprint(a...)) }
func (t tsTB) Name() string              { return t.ts.Name() }

// servers holds the model server of each running script.
type serverKey struct{}

func startModel(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	replies, err := modeltest.Read(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	srv := modeltest.New(tsTB{ts: ts}, replies...)
	ts.Setenv("OPENAI_BASE_URL", srv.URL())
	ts.Setenv("OPENAI_API_KEY", "sk-test-key-0")
	ts.Setenv("JCODE_MODEL", "test-model")
	state(ts).srv = srv
}

// scriptState is the state of our commands, one per script.
type scriptState struct{ srv *modeltest.Server }

func state(ts *testscript.TestScript) *scriptState {
	if s, ok := ts.Value(serverKey{}).(*scriptState); ok {
		return s
	}
	ts.Fatalf("no state")
	return nil
}

func countRequests(ts *testscript.TestScript, _ bool, args []string) {
	if got := fmt.Sprint(len(state(ts).srv.Requests())); got != args[0] {
		ts.Fatalf("the server got %s requests, want %s", got, args[0])
	}
}

func checkRequest(ts *testscript.TestScript, neg bool, args []string) {
	var n int
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		ts.Fatalf("%v", err)
	}
	if _, ok := state(ts).srv.Wait(n+1, time.Minute); !ok {
		ts.Fatalf("request %d never came", n)
	}
	raw := string(state(ts).srv.Requests()[n].Raw)
	if strings.Contains(raw, args[1]) == neg {
		ts.Fatalf("request %d: contains %q is %v:\n%.4000s", n, args[1], !neg, raw)
	}
}

func checkLines(ts *testscript.TestScript, _ bool, args []string) {
	scan := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0])))
	scan.Buffer(nil, 1<<24)
	n := 0
	for ; scan.Scan(); n++ {
		var object struct{ Type string }
		if err := json.Unmarshal(scan.Bytes(), &object); err != nil || object.Type == "" {
			ts.Fatalf("line %d is no event: %s", n+1, scan.Text())
		}
	}
	if n == 0 {
		ts.Fatalf("%s is empty", args[0])
	}
}
