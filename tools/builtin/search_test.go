package builtin_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

func TestBinaryFilesAreNamedNotPassedOverSilently(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("bin", "hello\x00world\nmatch line\n")
	has(t, r.ok("grep", args{"pattern": "match"}).Text, "skipped as binary: bin")
	has(t, r.ok("grep", args{"pattern": "match", "path": "bin"}).Text, "bin:2:match line")
	r.put("latin", "caf\xe9 match\n")
	has(t, r.ok("grep", args{"pattern": "match"}).Text, "latin:1:café match", "binary")
}

func TestLongLinesAreCutWithAMark(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("min.js", strings.Repeat("a", 1<<20)+" needle "+strings.Repeat("é", 1<<19)+"\n")
	res := r.ok("grep", args{"pattern": "needle"})
	has(t, res.Text, "min.js:1:…", " needle ")
	read := r.ok("read", args{"path": "min.js"})
	has(t, read.Text, "line cut", "cut: 1 long line")
	if len(res.Text) > 2000 || len(read.Text) > 10_000 {
		t.Errorf("%d and %d bytes", len(res.Text), len(read.Text))
	}
	if col := structured(t, res)["matches"].([]any)[0].(map[string]any)["column"].(float64); col != 1<<20+2 {
		t.Errorf("column %v", col)
	}
}

func TestPatternsThatLookLikeFlagsAreText(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "use --help\nor -foo\nor -e\n")
	for i, p := range []string{"--help", "-foo", "-e"} {
		has(t, r.ok("grep", args{"pattern": p}).Text, fmt.Sprintf("f:%d:", i+1))
	}
}

func TestInvalidPatternIsAnError(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "foo(bar)\n")
	r.refused("grep", args{"pattern": "foo("}, "invalid pattern", "missing closing )", "literal")
	has(t, r.ok("grep", args{"pattern": "foo(", "literal": true}).Text, "f:1:foo(bar)")
	r.refused("grep", args{"pattern": "a\nb"}, "line break")
	r.refused("grep", args{"pattern": "a", "include": "[a"}, "invalid pattern for file names")
}

func TestEveryMatchingLineIsFoundWithItsPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a.txt", "word 1\nno\nword 2\nword word\r\nx word\nword")
	r.put("d/b.txt", "word\n")
	r.put("d/c.md", "Word\n")
	res := r.ok("grep", args{"pattern": "word"})
	want := "a.txt:1:word 1\na.txt:3:word 2\na.txt:4:word word\na.txt:5:x word\na.txt:6:word\nd/b.txt:1:word"
	if res.Text != want {
		t.Errorf("got\n%s\nwant\n%s", res.Text, want)
	}
	d := structured(t, res)
	if d["count"] != 6.0 || d["truncated"] != false || fmt.Sprint(d["matches"].([]any)[3]) != "map[column:3 line:x word line_number:5 path:a.txt]" {
		t.Errorf("data %v", d)
	}
	has(t, r.ok("grep", args{"pattern": "(?i)WORD", "include": "*.{md,txt}", "path": "d"}).Text, "d/b.txt:1:word\nd/c.md:1:Word")
	has(t, r.ok("grep", args{"pattern": "word", "include": "d/*.txt", "path": "d"}).Text, "d/b.txt:1:word")
	if text := r.ok("grep", args{"pattern": "word", "include": "!*.txt"}).Text; strings.Contains(text, "txt:") {
		t.Errorf("left out, and found: %q", text)
	}
	has(t, r.ok("grep", args{"pattern": "zzz"}).Text, "no matches in 3 files")
	has(t, r.ok("grep", args{"query": "^x|2$", "glob": "*.txt"}).Text, "a.txt:3:word 2\na.txt:5:x word")
}

func TestMatchesArePagedAndTheTotalIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	for i := range 30 {
		r.put(fmt.Sprintf("f%02d", i), strings.Repeat("hit\n", 10))
	}
	res := r.ok("grep", args{"pattern": "hit"})
	has(t, res.Text, "300 matches in 30 files, the first 100 are shown", "f09:10:hit")
	if d := structured(t, res); d["count"] != 300.0 || d["truncated"] != true || len(d["matches"].([]any)) != 100 {
		t.Errorf("data %v %v", d["count"], d["truncated"])
	}
	res = r.ok("grep", args{"pattern": "hit", "limit": "5"})
	if strings.Count(res.Text, ":hit") != 5 || !strings.HasPrefix(res.Text, "f00:1:hit\n") {
		t.Errorf("with limit 5:\n%s", res.Text)
	}
	if d := structured(t, r.callAs(tools.Caller{Origin: tools.OriginScript}, "grep", args{"pattern": "hit"})); len(d["matches"].([]any)) != 300 {
		t.Error("a script does not get all")
	}
}

func TestContextLinesStandAroundMatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	var b strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	r.put("f", b.String())
	got := r.ok("grep", args{"pattern": "line (3|4|12)$", "context": 1}).Text
	want := "f-2-line 2\nf:3:line 3\nf:4:line 4\nf-5-line 5\n--\nf-11-line 11\nf:12:line 12\nf-13-line 13"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLinkLoopsEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a/f.txt", "word\n")
	r.link(".", "loop")
	r.link("..", "a/up")
	if got := r.ok("glob", args{"pattern": "**/*"}).Text; got != "a/f.txt" {
		t.Errorf("glob:\n%s", got)
	}
	if got := r.ok("grep", args{"pattern": "word"}).Text; got != "a/f.txt:1:word" {
		t.Errorf("grep:\n%s", got)
	}
}

func TestSearchSeesWhatGitLists(t *testing.T) {
	t.Parallel()
	files := []string{
		"a.go", ".env.example", ".hidden/x", "build/out.o", "build/keep.txt", "build/sub/deep", "deep/er/skip.log", "deep/er/keep.log",
		"deep/.gitignore", "vendor/x.go", "é.txt", "with blank", "node_modules/p/index.js", "src/node_modules/q.js",
	}
	for _, repo := range []bool{false, true} {
		t.Run(fmt.Sprintf("repository=%v", repo), func(t *testing.T) {
			r := newRig(t, builtin.Options{})
			for _, f := range files {
				r.put(f, "word\n")
			}
			r.put(".gitignore", "build/*\n!build/keep.txt\n*.log\nnode_modules/\n/vendor\n")
			r.put("deep/.gitignore", "!keep.log\n# word\n")
			want := []string{
				".env.example", ".gitignore", ".hidden/x", "a.go", "build/keep.txt", "deep/.gitignore", "deep/er/keep.log", "with blank", "é.txt",
			}
			if repo {
				want = gitList(t, r.dir)
			}
			sort.Strings(want)
			got := strings.Split(r.ok("glob", args{"pattern": "**"}).Text, "\n")
			sort.Strings(got)
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("glob got\n%q\nwant\n%q", got, want)
			}
			var hits []string
			for _, l := range strings.Split(r.ok("grep", args{"pattern": "word"}).Text, "\n") {
				path, _, _ := strings.Cut(l, ":")
				hits = append(hits, path)
			}
			if n := len(want) - 1; len(hits) != n { // .gitignore itself does not contain the word
				t.Errorf("grep found %d files, want %d: %q", len(hits), n, hits)
			}
			has(t, r.ok("read", args{"path": "build/out.o"}).Text, "word")
			has(t, r.ok("grep", args{"pattern": "word", "path": "node_modules"}).Text, "node_modules/p/index.js:1:word")
			has(t, r.ok("glob", args{"pattern": "node_modules/**/*.js"}).Text, "node_modules/p/index.js")
			// The rules of a parent folder apply to a search that begins below it.
			if text := r.ok("grep", args{"pattern": "word", "path": "deep/er"}).Text; text != "deep/er/keep.log:1:word" {
				t.Errorf("below a folder:\n%s", text)
			}
		})
	}
}

// gitList returns the files that git lists in a new repository in dir.
func gitList(t *testing.T, dir string) []string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	var out []byte
	for _, a := range [][]string{{"init", "-q"}, {"ls-files", "-coz", "--exclude-standard"}} {
		cmd := exec.Command("git", a...)
		cmd.Dir = dir
		var err error
		if out, err = cmd.Output(); err != nil {
			t.Skipf("git %v: %v", a, err)
		}
	}
	var list []string
	for _, p := range bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		list = append(list, string(p))
	}
	return list
}

func TestRulesOfTheRepositoryAboveHold(t *testing.T) {
	outer := t.TempDir()
	t.Setenv("HOME", outer)
	for name, content := range map[string]string{
		".git/info/exclude": "*.tmp\n", ".gitignore": "/sub/out\n*.o\n", "sub/out/f": "x", "sub/a.tmp": "x", "sub/b.o": "x", "sub/c": "x", "config/git/ignore": "*.mine\n", "sub/d.mine": "x",
	} {
		path := filepath.Join(outer, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(outer, "config"))
	ws, err := builtin.OpenWorkspace(filepath.Join(outer, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.Close() }()
	glob := fileTools(ws, builtin.Options{})[3]
	res, err := glob.Run(t.Context(), tools.Call{Name: "glob", Arguments: []byte(`{"pattern":"**"}`)})
	if err != nil || res.Text != "c" {
		t.Errorf("got %q, %v", res.Text, err)
	}
}

// hidingGate allows what it does not hide.
type hidingGate struct {
	allowAll
	hides
}

func TestDeniedPathsAreNotSearched(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.disp.Gate = &hidingGate{hides: func(path string) bool { return strings.Contains(filepath.ToSlash(path), "/secrets-") }}
	r.put("secrets-prod/key", "word\n")
	r.put("open", "word\n")
	for tool, a := range map[string]args{"grep": {"pattern": "word"}, "glob": {"pattern": "**"}, "ls": {}} {
		if text := r.ok(tool, a).Text; strings.Contains(text, "secrets") || !strings.Contains(text, "open") {
			t.Errorf("%s:\n%s", tool, text)
		}
	}
}

func TestGlobPatterns(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	for _, f := range []string{"a.rs", "b.rs", "c.txt", "src/d.rs", "src/x/e.ts", "src/x/f.tsx"} {
		r.put(f, "")
	}
	for pattern, want := range map[string]string{
		"*.rs": "a.rs\nb.rs", "**/*.rs": "a.rs\nb.rs\nsrc/d.rs", "src/**/*.{ts,tsx}": "src/x/e.ts\nsrc/x/f.tsx",
		"./src/*": "src/d.rs", r.dir + "/src/*.rs": "src/d.rs", "a.rs": "a.rs",
	} {
		if got := r.ok("glob", args{"pattern": pattern}).Text; got != want {
			t.Errorf("%s gives %q, want %q", pattern, got, want)
		}
	}
	if d := structured(t, r.ok("glob", args{"pattern": "*.rs"})); d["count"] != 2.0 {
		t.Errorf("data %v", d)
	}
	if got := r.ok("glob", args{"pattern": "*", "dir": "src/x"}).Text; got != "src/x/e.ts\nsrc/x/f.tsx" {
		t.Errorf("in a folder: %q", got)
	}
	has(t, r.ok("glob", args{"pattern": "*.ts"}).Text, "no files match", "deeper down there are 1: use **/*.ts")
	if res := r.ok("glob", args{"pattern": "none/**/*.ts"}); structured(t, res)["count"] != 0.0 || !strings.Contains(res.Text, "none does not exist") {
		t.Errorf("below an absent folder: %q", res.Text)
	}
	r.refused("glob", args{"pattern": "*", "dir": "none"}, "does not exist")
	r.refused("glob", args{"pattern": "../*"}, "..")
	r.refused("glob", args{"pattern": "[a"}, "invalid pattern")
	has(t, r.ok("glob", args{"pattern": "**/*", "limit": 2}).Text, "6 files, the first 2")
}

func TestGlobNewestFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	for i, f := range []string{"c", "a", "b"} {
		r.put(f, "")
		at := testTime.AddDate(0, 0, i)
		if err := os.Chtimes(filepath.Join(r.dir, f), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.ok("glob", args{"pattern": "*", "newest": true}).Text; got != "b\na\nc" {
		t.Errorf("got %q", got)
	}
}

func TestLinksInGlobLeadInside(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	out := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r.put("f", "")
	r.link("f", "rel")
	r.link(filepath.Join(r.dir, "f"), "abs")
	r.link(out, "out")
	r.link("none", "dangling")
	if got := r.ok("glob", args{"pattern": "*"}).Text; got != "abs\nf\nrel" {
		t.Errorf("got %q", got)
	}
}

func TestLsIsABoundedTree(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("src/a/b/c.go", "")
	r.put("README.md", "")
	r.put(".gitignore", "out\n")
	r.put("out/x", "")
	r.put(".git/config", "")
	got := r.ok("ls", args{}).Text
	want := "./\n.git/ (ignored)\nout/ (ignored)\nsrc/\n  a/\n.gitignore\nREADME.md"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	has(t, r.ok("ls", args{"dir": "src", "depth": 3}).Text, "src/\na/\n  b/\n    c.go")
	for i := range 700 {
		r.put(fmt.Sprintf("many/f%03d", i), "")
	}
	res := r.ok("ls", args{})
	has(t, res.Text, "more", "README.md", "  a/")
	if n := structured(t, res)["count"].(float64); n > 510 {
		t.Errorf("%v entries", n)
	}
	r.refused("ls", args{"path": "README.md"}, "not a folder")
	r.refused("ls", args{"path": "nowhere"}, "does not exist")
	r.put("e/x", "")
	r.ok("remove", args{"path": "e/x"})
	has(t, r.ok("ls", args{"path": "e"}).Text, "(empty)")
}
