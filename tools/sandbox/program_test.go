//go:build linux

package sandbox_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/proc"
	"jcode/tools/sandbox"
)

// program runs a shell text with the rights of a program of others.
func (r *rig) program(rights sandbox.Program, line string) string {
	r.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	spec, _, err := r.ConfineProgram(proc.Spec{Argv: []string{"/bin/sh", "-c", line}, Dir: r.project, Env: proc.CommandEnv(os.Environ(), proc.EnvRules{}), Stdout: write, Stderr: write}, rights)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := proc.Start(spec)
	_ = write.Close()
	if err != nil {
		r.t.Fatal(err)
	}
	<-p.Done()
	out, err := io.ReadAll(read)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(out)
}

func TestAProgramOfOthersHasItsOwnFoldersAndNoMore(t *testing.T) {
	r := newRig(t)
	own := filepath.Join(r.home, ".config", "jcode", "plugins", "kit")
	data := filepath.Join(r.home, ".config", "jcode", "plugin-data", "kit")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "run.sh"), []byte("echo it runs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(r.home, ".config", "jcode", "credentials.json")
	rights := sandbox.Program{Read: []string{own, filepath.Join(r.home, "gone")}, Data: []string{data}}
	for line, want := range map[string]string{
		"sh " + own + "/run.sh":                           "it runs",
		"echo x > " + data + "/state; cat " + data + "/*": "x\n",
		"cat " + keys + " || echo hidden":                 "hidden",
		"ls " + filepath.Dir(filepath.Dir(own)):           "plugin-data\nplugins\n",
		"echo x > " + own + "/run.sh || echo kept":        "kept",
		"rm " + own + "/run.sh || echo kept":              "kept",
		"echo x > " + r.home + "/notes.txt || echo kept":  "kept",
		"echo x > " + keys + " || echo kept":              "kept",
		"echo x > a.txt; cat a.txt":                       "x\n",
	} {
		if out := r.program(rights, line); !strings.Contains(out, want) || strings.Contains(out, "content of home/.config") {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
	if out := r.program(sandbox.Program{}, "sh "+own+"/run.sh || echo hidden"); !strings.Contains(out, "hidden") {
		t.Errorf("without rights: %q", out)
	}
	if text, err := os.ReadFile(filepath.Join(data, "state")); err != nil || string(text) != "x\n" {
		t.Errorf("its data is not there afterwards: %q, %v", text, err)
	}
}

// What a server without a network says of that is known by its words, which an ordinary command may say as well.
func TestWordsOfAProgramWithoutANetworkAreKnown(t *testing.T) {
	r := newRig(t)
	for _, words := range []string{"Error searching: TypeError: fetch failed", "connect ECONNREFUSED 127.0.0.1:5432", "getaddrinfo EAI_AGAIN api.example.com"} {
		if why := r.BlamedProgram(words, 1, sandbox.Program{}); !strings.HasPrefix(why, "it has no network") {
			t.Errorf("%s: %q", words, why)
		}
		if why := r.BlamedProgram(words, 1, sandbox.Program{Network: true}); why != "" {
			t.Errorf("with the network, %s: %q", words, why)
		}
	}
	if why := r.Blamed("dial tcp 127.0.0.1:80: connect: connection refused", 1); why != "" {
		t.Errorf("a command that finds nobody at a port of its own: %q", why)
	}
}
