package lsp_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/shorten"
	"jcode/tools/lsp"
)

// breaking is a real server with a file and ten ways to break it, one after the other.
type breaking struct {
	server, program string
	args            []string
	files           map[string]string
	path, end       string // what is added is put before end
	add, want       string // with %d for the number
	env             map[string]string
}

func breakings(t testing.TB) []breaking {
	t.Helper()
	cold := func() map[string]string {
		dir := t.TempDir()
		return map[string]string{"XDG_CACHE_HOME": dir, "GOPLSCACHE": dir}
	}
	module := map[string]string{"go.mod": "module ex\n\ngo 1.24\n", "a.go": "package ex\n\nimport \"net/http\"\n\nvar _ = http.Get\n\n// End.\n"}
	rust := map[string]string{"Cargo.toml": "[package]\nname = \"ex\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": "// End.\n"}
	return []breaking{
		{server: "gopls", program: "gopls", files: module, path: "a.go", end: "// End.", add: "var Y%d = lost%[1]d", want: "undefined: lost%d "},
		{server: "gopls, cold", program: "gopls", files: module, path: "a.go", end: "// End.", add: "var Y%d = lost%[1]d", want: "undefined: lost%d ", env: cold()},
		{server: "typescript-language-server", program: "typescript-language-server", args: []string{"--stdio"}, files: map[string]string{"tsconfig.json": "{}", "a.ts": "// End.\n"}, path: "a.ts", end: "// End.", add: "export const y%d: string = lost%[1]d;", want: "'lost%d'"},
		{server: "pyright", program: "pyright-langserver", args: []string{"--stdio"}, files: map[string]string{"pyrightconfig.json": "{}", "a.py": "# End.\n"}, path: "a.py", end: "# End.", add: "y%d = lost%[1]d", want: "\"lost%d\""},
		{server: "clangd", program: "clangd", files: map[string]string{"a.c": "// End.\n"}, path: "a.c", end: "// End.", add: "int y%d = lost%[1]d;", want: "'lost%d'"},
		{server: "rust-analyzer", program: "rust-analyzer", files: rust, path: "src/lib.rs", end: "// End.", add: "pub fn y%d() -> i32 { lost%[1]d }", want: "lost%d"},
		{server: "rust-analyzer, cold", program: "rust-analyzer", files: rust, path: "src/lib.rs", end: "// End.", add: "pub fn y%d() -> i32 { lost%[1]d }", want: "lost%d", env: map[string]string{}},
		{server: "vscode-json-language-server", program: "vscode-json-language-server", args: []string{"--stdio"}, files: map[string]string{"a.json": "{\n  \"end\": 1\n}\n"}, path: "a.json", end: "  \"end\"", add: "  \"y\": lost%d,", want: ":%d:"},
		{server: "vscode-css-language-server", program: "vscode-css-language-server", args: []string{"--stdio"}, files: map[string]string{"a.css": "/* End. */\n"}, path: "a.css", end: "/* End. */", add: ".y%d { color: ; }", want: "a.css:%d:"},
		{server: "yaml-language-server", program: "yaml-language-server", args: []string{"--stdio"}, files: map[string]string{"a.yaml": "end: 1\n"}, path: "a.yaml", end: "end: 1", add: "y%d: *lost%[1]d", want: "lost%d"},
		{server: "bash-language-server", program: "bash-language-server", args: []string{"start"}, files: map[string]string{"a.sh": "#!/bin/bash\n# End.\n"}, path: "a.sh", end: "# End.", add: "echo $lost%d", want: "a.sh:%d:"},
	}
}

// What an edit breaks is told with its result or, when the server needs longer, at a later step: nothing is lost,
// and no result looks clean that isn't.
func TestTenBreakingEditsAreAllToldByRealServers(t *testing.T) {
	for _, b := range breakings(t) {
		t.Run(b.server, func(t *testing.T) {
			shorten.OneIn(t, 3)
			name, _, _ := strings.Cut(b.server, ",")
			cold := b.env != nil
			program := anywhere(t, b.program)
			env := maps.Clone(b.env)
			if name == "rust-analyzer" { // which asks the cargo beside it
				env = map[string]string{"PATH": filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")}
			}
			r := newRig(t, "", b.files, with(lsp.Server{Name: name, Command: append([]string{program}, b.args...), Env: env}), func(o *lsp.Options) {
				if cold { // whatever this machine has to do: what counts is that nothing is missing
					o.Patience, o.Loading = time.Minute, 5*time.Minute
				}
			})
			if !cold {
				eventually.True(t, b.server+" answers", func() bool { return strings.Contains(r.call("diagnostics", m{"path": b.path}).Text, "reports nothing") })
			}
			var took []time.Duration
			results := make([]string, 10)
			all := ""
			for i := range results {
				began := time.Now()
				results[i] = r.result(b.path, b.end, fmt.Sprintf(b.add, i)+"\n"+b.end)
				took = append(took, time.Since(began))
				all += results[i] + "\n" + r.m.Late("") + "\n"
			}
			atOnce := 0
			for i, got := range results {
				told := func(text string) bool { return names(b, text, i) }
				if told(got) {
					atOnce++
					continue
				}
				if !strings.Contains(got, "has not answered yet") {
					t.Errorf("edit %d looks clean: %s", i, got)
				}
				if !told(all) {
					eventually.True(t, fmt.Sprintf("%s tells of edit %d", b.server, i), func() bool {
						all += r.m.Late("") + "\n"
						return told(all)
					})
				}
			}
			if cold && atOnce < len(results) {
				t.Errorf("%d of %d are told with the result of the edit", atOnce, len(results))
			}
			slices.Sort(took)
			var memory int64
			for _, s := range r.m.Servers() {
				memory += s.Memory
			}
			t.Logf("%s: %d of 10 told with the result, all told; median %d ms, worst %d ms, %d MB", b.server, atOnce, took[5].Milliseconds(), took[9].Milliseconds(), memory>>20)
		})
	}
}

// names reports whether a text tells of the fault of an edit.
func names(b breaking, text string, i int) bool {
	if strings.Contains(b.want, ":%d:") { // by its line: the newest is always the last before the end
		line := strings.Count(b.files[b.path][:strings.Index(b.files[b.path], b.end)], "\n") + 1 + i
		return strings.Contains(text, fmt.Sprintf(b.want, line))
	}
	return strings.Contains(text, fmt.Sprintf(b.want, i))
}

// anywhere is installed, or the program of this machine.
func anywhere(t testing.TB, name string) string {
	t.Helper()
	if os.Getenv("JCODE_TEST_LANGUAGE_SERVERS") != "" && (name == "clangd" || name == "rust-analyzer") {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "--version").Run() == nil {
			return path
		}
	}
	if _, err := exec.LookPath("shellcheck"); err != nil && name == "bash-language-server" {
		t.Skip("shellcheck is missing, with which the shells' server finds faults")
	}
	return installed(t, name)
}
