package lsp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/shorten"
	"jcode/tools/lsp"
)

// installed returns the program of a real server; without one the test is skipped.
func installed(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("JCODE_TEST_LANGUAGE_SERVERS")
	if dir == "" {
		t.Skip("JCODE_TEST_LANGUAGE_SERVERS is not set: see scripts/install-language-servers")
	}
	for _, sub := range []string{"bin", filepath.Join("node_modules", ".bin")} {
		if path := filepath.Join(dir, sub, name); fileExists(path) {
			return path
		}
	}
	t.Skip(name + " is not installed")
	return ""
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// with uses a real server instead of the fake one.
func with(s lsp.Server) func(*lsp.Options) {
	return func(o *lsp.Options) { o.Servers = []lsp.Server{lsp.Merge(s)} }
}

// result returns the whole result of an edit.
func (r *rig) result(path, old, now string) string {
	r.t.Helper()
	return r.call("edit", m{"path": path, "old_string": old, "new_string": now}).Text
}

func TestGoplsTellsOfOtherPackagesAndRenames(t *testing.T) {
	t.Parallel()
	files := map[string]string{"go.mod": "module ex\n\ngo 1.24\n", "p/p.go": "package p\n\nfunc Add(a, b int) int { return a + b }\n"}
	for _, name := range []string{"a", "b", "c", "d"} {
		files[name+"/"+name+".go"] = "package " + name + "\n\nimport \"ex/p\"\n\nvar X = p.Add(1, 2)\n"
	}
	r := newRig(t, "", files, with(lsp.Server{Name: "gopls", Command: []string{installed(t, "gopls")}}))
	r.call("diagnostics", m{"path": "p/p.go"}) // which waits until it has read the project
	if got := r.result("p/p.go", "a, b int", "a, b, c int"); !strings.Contains(got, "a/a.go:5") || !strings.Contains(got, "[gopls: 4 new errors]") {
		t.Errorf("%s", got)
	}
	if got := r.result("p/p.go", "a, b, c int", "a, b int"); strings.Contains(got, "[gopls") {
		t.Errorf("repaired: %s", got)
	}
	if res := r.call("rename", m{"symbol": "Add", "new_name": "Sum"}); !strings.Contains(res.Text, "changed 5 files") || !strings.Contains(r.read("d/d.go"), "p.Sum(1, 2)") {
		t.Errorf("%s", res.Text)
	}
}

func TestFiftyEditsInARowLoseNoDiagnosticOfGopls(t *testing.T) {
	t.Parallel()
	files := map[string]string{"go.mod": "module ex\n\ngo 1.24\n", "p/p.go": "package p\n\n// End.\n", "q/q.go": "package q\n\nimport \"ex/p\"\n\nvar _ = p.X0\n"}
	r := newRig(t, "", files, with(lsp.Server{Name: "gopls", Command: []string{installed(t, "gopls")}}))
	for end := time.Now().Add(time.Minute); strings.Contains(r.result("p/p.go", "// End.", "var X0 = 1\n\n// End."), "not answered yet"); r.result("p/p.go", "var X0 = 1\n\n", "") {
		if time.Now().After(end) {
			t.Fatal("gopls never was ready")
		}
	}
	var late []string
	told := ""
	for i := range 50 {
		got := r.result("p/p.go", "// End.", fmt.Sprintf("var Y%d = lost%d\n\n// End.", i, i))
		told += got
		if strings.Contains(got, "not answered yet") {
			late = append(late, fmt.Sprint(i)) // on a busy machine it is reported with the next edit
		} else if !strings.Contains(got, fmt.Sprintf("undefined: lost%d ", i)) {
			t.Fatalf("edit %d: %s", i, got)
		}
	}
	told += r.call("diagnostics", m{"path": "p/p.go"}).Text
	for _, i := range late {
		if !strings.Contains(told, "undefined: lost"+i+" ") {
			t.Errorf("lost%s was never told", i)
		}
	}
}

func TestServersTellOfFilesThatWereRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, program, a, b, old, now, want string
		args                                []string
		files                               map[string]string
	}{
		{
			name: "typescript-language-server", program: "typescript-language-server", args: []string{"--stdio"}, a: "a.ts", b: "b.ts", old: "n: number", now: "n: string", want: "b.ts:2",
			files: map[string]string{"tsconfig.json": "{}", "a.ts": "export function f(n: number) {}\n", "b.ts": "import { f } from \"./a\";\nf(1);\n"},
		},
		{
			name: "pyright", program: "pyright-langserver", args: []string{"--stdio"}, a: "a.py", b: "b.py", old: "n: int", now: "n: str", want: "b.py:2",
			files: map[string]string{"pyrightconfig.json": "{}", "a.py": "def f(n: int):\n    pass\n", "b.py": "from a import f\nf(1)\n"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			shorten.OneIn(t, 3)
			t.Parallel()
			r := newRig(t, "", tc.files, with(lsp.Server{Name: tc.name, Command: append([]string{installed(t, tc.program)}, tc.args...)}))
			r.m.Read(filepath.Join(r.root, tc.b))
			// What a server that is still starting reports may be old: on a slow machine the first
			// error is not reported; the next one after a repair must be.
			got := ""
			for end := time.Now().Add(time.Minute); time.Now().Before(end); {
				if got = r.result(tc.a, tc.old, tc.now); strings.Contains(got, tc.want) {
					return
				}
				r.result(tc.a, tc.now, tc.old)
			}
			t.Errorf("%s", got)
		})
	}
}

// BenchmarkEditToDiagnostics measures an edit of a package that many others use, from the call
// to the result with what gopls reports on them, on a copy of this project's sources.
func BenchmarkEditToDiagnostics(b *testing.B) {
	gopls := installed(b, "gopls")
	r := newRig(b, "", sources(b), with(lsp.Server{Name: "gopls", Command: []string{gopls}}))
	const path, good, bad = "internal/text/clean.go", "func OneLine(s string) string", "func OneLine(s string, _ int) string"
	if !strings.Contains(r.read(path), good) {
		b.Fatalf("%s has no %s any more", path, good)
	}
	for end := time.Now().Add(5 * time.Minute); !strings.Contains(r.result(path, good, bad), "new errors"); r.result(path, bad, good) {
		if time.Now().After(end) {
			b.Fatal("gopls does not find what broke")
		}
	}
	r.result(path, bad, good)
	b.ResetTimer()
	for range b.N {
		if got := r.result(path, good, bad); !strings.Contains(got, "new errors") {
			b.Fatal(got)
		}
		b.StopTimer()
		r.result(path, bad, good)
		b.StartTimer()
	}
}

// sources returns the files of this project that a compiler reads.
func sources(tb testing.TB) map[string]string {
	tb.Helper()
	top := filepath.Join("..", "..")
	out := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		base := d.Name()
		if filepath.Ext(base) != ".go" && base != "go.mod" && base != "go.sum" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			rel, _ := filepath.Rel(top, path) // both are relative to the same folder
			out[rel] = string(data)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
