//go:build linux || darwin

package builtin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFullScreenProgramIsSeenAndLeft(t *testing.T) {
	t.Parallel()
	for program, try := range map[string]func(c *console){
		"vim": func(c *console) {
			c.start("vim", "vim -u NONE -N note.txt")
			c.wait("~")
			c.write("ihello from vim", "esc")
			c.wait("hello from vim")
			c.write(":wq", "enter")
			c.ends("exit 0")
			if b, err := os.ReadFile(filepath.Join(c.root, "note.txt")); err != nil || string(b) != "hello from vim\n" {
				c.t.Errorf("%q, %v", b, err)
			}
		},
		"top": func(c *console) {
			c.start("top", "top")
			c.wait("(?i)load av")
			c.write("q", "")
			c.ends("exit 0")
		},
		"git": func(c *console) {
			for _, args := range [][]string{{"init", "-q"}, {"add", "here.txt"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
				c.touch("here.txt")
				cmd := exec.Command("git", args...)
				cmd.Dir = c.root
				if out, err := cmd.CombinedOutput(); err != nil {
					c.t.Skipf("git: %v %s", err, out)
				}
			}
			if err := os.WriteFile(filepath.Join(c.root, "here.txt"), []byte("changed\n"), 0o644); err != nil {
				c.t.Fatal(err)
			}
			c.start("git", "git add -p")
			c.wait(`Stage this hunk`)
			c.write("y\n", "")
			c.ends("exit 0")
			cmd := exec.Command("git", "diff", "--cached", "--name-only")
			cmd.Dir = c.root
			if out, _ := cmd.Output(); string(out) != "here.txt\n" {
				c.t.Errorf("staged: %q", out)
			}
		},
		"gdb": func(c *console) {
			c.start("gdb", "gdb -q -nx")
			c.wait(`\(gdb\)`)
			c.write("print 40+2\n", "")
			c.wait(`\$1 = 42`)
			c.write("quit\n", "")
			c.ends("exit 0")
		},
		"sqlite3": func(c *console) {
			c.start("sqlite3", "sqlite3 -init /dev/null")
			c.wait("sqlite>")
			c.write("select 'forty-' || 'two';\n", "")
			c.wait("forty-two")
			c.write(".quit\n", "")
			c.ends("exit 0")
		},
		"npm": func(c *console) {
			c.start("npm", "npm init --offline")
			c.wait("package name:")
			c.write("thing\n", "")
			c.wait(`version: `)
			for out := ""; !strings.Contains(out, "Is this OK"); {
				if out = c.write("", "enter"); strings.Contains(out, "has ended") {
					c.t.Fatal(out)
				}
			}
			c.write("", "enter")
			c.ends("exit 0")
			if _, err := os.Stat(filepath.Join(c.root, "package.json")); err != nil {
				c.t.Error(err)
			}
		},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			c.t = t
			try(c)
		})
	}
}
