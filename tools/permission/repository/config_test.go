package repository

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asGit reads a configuration file with git: every key with its value.
func asGit(t *testing.T, file string) (list []string, ok bool) {
	t.Helper()
	cmd := exec.Command("git", "config", "--file", file, "--list", "--null")
	cmd.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "HOME=/", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err == nil
}

// ours reads a configuration file with our parser, in the form that git prints.
func ours(data string) (list []string, ok bool) {
	settings, err := parseConfig([]byte(data))
	for _, s := range settings {
		key := s.name
		switch {
		case s.sub != "":
			key = s.section + "." + s.sub + "." + s.name
		case s.section != "":
			key = s.section + "." + s.name
		}
		if !s.bare {
			key += "\n" + s.value
		}
		list = append(list, key)
	}
	return list, err == nil
}

// compareConfig checks that we read what git accepts in the same way, and that what we can't read
// is an error.
func compareConfig(t *testing.T, dir, data string) {
	t.Helper()
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
	want, accepted := asGit(t, file)
	got, ok := ours(data)
	if !ok || !accepted {
		if ok && !accepted {
			return // git refuses more files: then it runs nothing
		}
		if accepted {
			t.Errorf("git accepts what we don't, %q", data)
		}
		return
	}
	// Versions of git differ in whether a tab inside a value becomes a space.
	blanks := strings.NewReplacer("\t", " ", "\v", " ", "\f", " ")
	if blanks.Replace(strings.Join(got, "\x00")) != blanks.Replace(strings.Join(want, "\x00")) {
		t.Errorf("%q\n is read as %q\n by git as  %q", data, got, want)
	}
}

func TestConfigIsReadAsGitReadsIt(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	dir := t.TempDir()
	for _, s := range []string{
		"[a]b=c", "[a] b\n", "# \\\n[a] b = c\n", "[a]\nb = c \\\n d\n", "[a]\nb = \"x # y\" # z\n", "[a \"x]\"]b=c", "[a.B]c=d", "[a]\nb = c\\\\\n", "[a]b=c # \\\nd=e",
		"[a]b=\\\"\n", "\xef\xbb\xbf[a]b=c", "[a]\r\nb=c\r\nd=e \\\r\nf", "[A \"B\\\"c\"]\nD = e", "[a]b = 'x  y'  \n", "[a]b=\"x\ny\"", "[a]b=c;d", "[a\n]b=c", "[a] b c = d", "b=c", "[a]b=  ",
		"[a]b=\"\"  x  ", "[a]b=x\t\ty \t# z", "[a]1=b", "[a]b-=c", "[]b=c", "[a][c]d=e", "[a]b=c\v\fd\n", "[a \"\\\nx\"]b=c", "[a]b",
	} {
		compareConfig(t, dir, s)
	}
	r := rand.New(rand.NewPCG(7, 9))
	pieces := []string{"[a]", "[core]", "[a \"b\"]", "[a.b]", "fsmonitor", "b", " ", "\t", "=", "=", "\n", "\n", "\r\n", "\\", "\\\n", "\\n", "\"", "#", ";", "]", "[", "x", "%f", "'", ".", "-", "1"}
	for range 400 {
		var b strings.Builder
		b.WriteString(pieces[r.IntN(4)])
		for range 1 + r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		compareConfig(t, dir, b.String())
	}
}
