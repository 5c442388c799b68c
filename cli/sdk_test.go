//go:build linux || darwin

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// exchange is one of sdk/testdata/exchanges.json, which all libraries play.
type exchange struct {
	Name  string            `json:"name"`
	Model []json.RawMessage `json:"model"`
	Files map[string]string `json:"files"`
	Want  []map[string]any  `json:"want"`
	Made  []string          `json:"made"` // files that are there afterwards; "never" is not
	Read  string            `json:"read"` // what the last request to the model contains

	all json.RawMessage
}

func exchanges(t *testing.T) []exchange {
	t.Helper()
	b, err := os.ReadFile("../sdk/testdata/exchanges.json")
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	out := make([]exchange, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &out[i]); err != nil {
			t.Fatal(err)
		}
		out[i].all = r
	}
	return out
}

// play plays all exchanges with a library's driver.
func play(t *testing.T, program string, args ...string) {
	t.Helper()
	for i, x := range exchanges(t) {
		if testing.Short() && i%5 != 0 {
			continue
		}
		t.Run(strings.ReplaceAll(x.Name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var model strings.Builder
			for _, line := range x.Model {
				model.Write(line)
				model.WriteByte('\n')
			}
			replies, err := modeltest.Read(strings.NewReader(model.String()))
			if err != nil {
				t.Fatal(err)
			}
			c := newChat(t, replies...)
			for name, content := range x.Files {
				put(t, filepath.Join(c.dir, name), content)
			}
			cmd := c.command(program, args...)
			cmd.Stdin = strings.NewReader(string(x.all))
			var said strings.Builder
			cmd.Stderr = &said
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, said.String())
			}
			lines := bufio.NewScanner(strings.NewReader(string(out)))
			for i, want := range x.Want {
				got := map[string]any{}
				if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil {
					t.Fatalf("step %d: no outcome: %s\n%s", i, lines.Text(), said.String())
				}
				for name, value := range want {
					if !same(name, got[name], value) {
						t.Errorf("step %d: %s is %v, not %v\n%s\n%s", i, name, got[name], value, lines.Text(), said.String())
					}
				}
				if tools, _ := got["tools"].([]any); want["tools"] == nil && len(tools) > 0 {
					t.Errorf("step %d: %v was called", i, tools)
				}
			}
			for _, name := range x.Made {
				if _, err := os.Stat(filepath.Join(c.dir, name)); err != nil {
					t.Error(err)
				}
			}
			if _, err := os.Stat(filepath.Join(c.dir, "never")); err == nil {
				t.Error("what was not allowed was done")
			}
			requests := c.turns(c.srv.Requests())
			if x.Read != "" && !strings.Contains(string(requests[len(requests)-1].Raw), x.Read) {
				t.Errorf("the model did not read %q", x.Read)
			}
		})
	}
}

// same compares a part of an outcome. An error contains what is wanted, and lists have no order where it says nothing.
func same(name string, got, want any) bool {
	switch name {
	case "error":
		said, _ := got.(string)
		return strings.Contains(said, want.(string))
	case "has":
		list, _ := got.([]any)
		for _, w := range want.([]any) {
			if !slices.Contains(list, w) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(got, want)
}

func TestTheGoLibraryPlaysAllExchanges(t *testing.T) {
	t.Parallel()
	driver := filepath.Join(t.TempDir(), "drive")
	build := exec.Command("go", "build", "-o", driver, "./testdata/drive")
	build.Dir = filepath.Join("..", "sdk", "go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("exchanges", func(t *testing.T) { play(t, driver) })
}

func TestTheTypeScriptLibraryPlaysAllExchanges(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	driver, err := filepath.Abs("../sdk/typescript/testdata/drive.js")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("exchanges", func(t *testing.T) { play(t, node, driver) })
}

func TestThePythonLibraryPlaysAllExchanges(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	if err := exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run(); err != nil {
		t.Skip("needs Python 3.10")
	}
	driver, err := filepath.Abs("../sdk/python/testdata/drive.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("exchanges", func(t *testing.T) { play(t, python, driver) })
}

// The examples of the page run as they stand there: what is asked for is allowed, and the answer is printed.
func TestExamplesOfTheLibrariesRun(t *testing.T) {
	t.Parallel()
	sdk, err := filepath.Abs("../sdk")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	for lang, command := range map[string]func(t *testing.T, example string) []string{
		"go": func(t *testing.T, example string) []string {
			dir := t.TempDir()
			source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "example")
			put(t, source, "package main\n\nimport (\n\"context\"\n\"encoding/json\"\n\"fmt\"\n\"os\"\n\nsdk \"jcode/sdk/go\"\n)\n\nvar _ json.RawMessage\n\nfunc run(ctx context.Context) error {\n"+example+
				"return nil\n}\n\nfunc main() {\nif err := run(context.Background()); err != nil {\nfmt.Fprintln(os.Stderr, err)\nos.Exit(1)\n}\n}\n")
			overlay := filepath.Join(dir, "overlay.json")
			put(t, overlay, fmt.Sprintf(`{"Replace": {%q: %q}}`, filepath.Join(sdk, "go", "testdata", "example", "main.go"), source))
			build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./testdata/example")
			build.Dir = filepath.Join(sdk, "go")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			return []string{program}
		},
		"js": func(t *testing.T, example string) []string {
			file := filepath.Join(t.TempDir(), "example.mjs")
			put(t, file, strings.Replace(example, `"jcode-sdk"`, `"`+filepath.Join(sdk, "typescript", "jcode.js")+`"`, 1))
			return []string{"node", file}
		},
		"python": func(t *testing.T, example string) []string {
			file := filepath.Join(t.TempDir(), "example.py")
			put(t, file, "import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '"+filepath.Join(sdk, "python")+"')\n"+example)
			return []string{"python3", file}
		},
	} {
		for info, plays := range map[string]struct {
			call modeltest.Reply
			read string // by the model, of the call
		}{
			lang + " sdk":       {modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "go test ./..."})), ""},
			lang + " sdk tools": {modeltest.Calls(tool("c1", "mcp__app__stock", map[string]any{"part": "bolts"})), "42"},
		} {
			t.Run(strings.ReplaceAll(info, " ", "_"), func(t *testing.T) {
				t.Parallel()
				_, rest, found := strings.Cut(string(page), "```"+info+"\n")
				example, _, closed := strings.Cut(rest, "```\n")
				if !found || !closed {
					t.Fatal("docs/sdk.md has no such example")
				}
				line := command(t, example)
				if _, err := exec.LookPath(line[0]); err != nil {
					t.Skip(err)
				}
				c := newChat(t, plays.call, modeltest.Text("Because of the clock."))
				cmd := c.command(line[0], line[1:]...)
				var said strings.Builder
				cmd.Stderr = &said
				out, err := cmd.Output()
				if err != nil || !strings.Contains(string(out), "Because of the clock.") {
					t.Fatalf("%v: %q\n%s", err, out, said.String())
				}
				if got := string(c.request(1).Raw); strings.Contains(got, "only the tests may run") || !strings.Contains(got, plays.read) {
					t.Errorf("the call was refused: %s", got)
				}
			})
		}
	}
}
