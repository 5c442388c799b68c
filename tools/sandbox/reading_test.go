//go:build linux

package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/launch"
	"jcode/internal/proc"
	"jcode/internal/testkit/programs"
	"jcode/tools/sandbox"
)

// reading runs a program that may only read, in the workspace.
func (r *rig) reading(allow sandbox.Reading, env []string, argv ...string) (out string, code int) {
	r.t.Helper()
	if ok, why := r.CanRead(); !ok {
		r.t.Skip("commands can't be confined to reading here: " + why)
	}
	read, write, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	base := proc.CommandEnv(append(os.Environ(), append([]string{"HOME=" + r.home}, env...)...), proc.EnvRules{})
	spec, done, err := r.ConfineToReading(proc.Spec{Argv: argv, Dir: r.project, Env: base, Stdout: write, Stderr: write}, allow)
	if err != nil {
		r.t.Fatal(err)
	}
	p, err := proc.Start(spec)
	_ = write.Close()
	if err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		r.t.Errorf("%v does not end", argv)
	}
	_ = p.Kill()
	data, err := io.ReadAll(read)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := done(); err != nil {
		r.t.Error(err)
	}
	return string(data), p.Exit().Code
}

func TestReadingIsAllThatAVouchedCommandCan(t *testing.T) {
	r := newRig(t)
	python, _ := exec.LookPath("/usr/bin/python3") // not a shim of a version manager
	for _, tc := range []struct {
		line string
		ok   bool
		says string // part of the output
	}{
		{"cat a.txt", true, "content of project/a.txt"},
		{"cat < a.txt | sort | uniq -c | head -n 1", true, "content"},
		{"ls -la . sub; stat a.txt >/dev/null 2>&1", true, "a.txt"},
		{"echo x > /dev/null && cat /dev/null /etc/passwd | head -n 1", true, "root"},
		{"cat <<E\nhere\nE", true, "here"},
		{"echo x > $TMPDIR/f && cat $TMPDIR/f", true, "x"},
		{"yes | head -n 2", true, "y"},
		{"ls /proc/self >/dev/null && uname -a", true, "Linux"},
		{"git --version", true, "git version"},
		{"echo x > new", false, ""},
		{"echo x >> a.txt", false, ""},
		{": > a.txt", false, ""},
		{"rm a.txt", false, ""},
		{"mv a.txt b.txt", false, ""},
		{"mkdir d", false, ""},
		{"ln -s a.txt l", false, ""},
		{"ln a.txt l", false, ""},
		{"chmod 777 a.txt", false, ""},
		{"touch -d yesterday a.txt", false, ""},
		{"truncate -s 0 a.txt", false, ""},
		{"mkfifo p", false, ""},
		{"cat ~/.ssh/id", false, ""},
		{"cat ~/.config/jcode/credentials.json", false, ""},
		{"cat ~/notes.txt", false, ""},
		{"cat ../other/x", false, ""},
		{"cat /proc/" + fmt.Sprint(os.Getpid()) + "/environ", false, ""},
		{"kill -0 " + fmt.Sprint(os.Getpid()), false, ""},
		{"./tool", false, ""},
		{"cp tool $TMPDIR/t && $TMPDIR/t", false, ""},
		{"echo x > /dev/tty", false, ""},
		{"echo x > /tmp/vouched-escape", false, ""},
	} {
		programs.File(t, filepath.Join(r.project, "tool"), "#!/bin/sh\necho RAN\n", 0o755)
		before := treeOf(t, r.project)
		out, code := r.reading(sandbox.Reading{}, nil, "/bin/sh", "-c", tc.line)
		if (code == 0) != tc.ok || !strings.Contains(out, tc.says) || strings.Contains(out, "RAN") {
			t.Errorf("%s: exit %d, %q", tc.line, code, out)
		}
		if code != 0 && r.BlamedForReading(out, code, r.project) == "" && !strings.Contains(tc.line, "/dev/tty") {
			t.Errorf("%s: %q is not recognised as the confinement's doing", tc.line, out)
		}
		if after := treeOf(t, r.project); after != before {
			t.Errorf("%s changed the workspace:\n%s\n%s", tc.line, before, after)
		}
	}
	if left, err := filepath.Glob(filepath.Join(r.policy.Temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("temporary folders are left: %v %v", left, err)
	}
	if python == "" {
		return
	}
	for name, code := range map[string]string{
		"internet":       "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
		"unix sockets":   "import socket; socket.socket(socket.AF_UNIX)",
		"other limits":   "import resource,os; resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0,0))",
		"attributes":     "import os; os.setxattr('a.txt','user.x',b'y')",
		"shared memory":  "import ctypes; l=ctypes.CDLL(None); l.shmget(1,4096,0o1600)>=0 or exit(1)",
		"own namespaces": "import os; os.unshare(os.CLONE_NEWUSER)",
		"newer calls":    "import ctypes,sys; l=ctypes.CDLL(None,use_errno=True); l.syscall(469,-100,b'a.txt',0,0,0); sys.exit(ctypes.get_errno()==38)",
		"fork is fine":   "import os,sys; p=os.fork(); p or os._exit(0); sys.exit(7)",
	} {
		out, got := r.reading(sandbox.Reading{}, nil, python, "-S", "-c", code)
		if name == "fork is fine" && got == 7 {
			continue
		}
		if got == 0 || name == "fork is fine" {
			t.Errorf("%s: exit %d %s", name, got, out)
		}
	}
}

// treeOf returns the visible state of a folder as one string.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadingKeepsToWhatRulesLeave(t *testing.T) {
	r := newRig(t)
	file := func(name string) string { return filepath.Join(r.base, filepath.FromSlash(name)) }
	if out, code := r.reading(sandbox.Reading{Hidden: []string{file("project/sub/.env")}}, nil, "/bin/sh", "-c", "cat a.txt && cat sub/.env"); code == 0 || !strings.Contains(out, "content of project/a.txt") {
		t.Errorf("a hidden file: %d %s", code, out)
	}
	if out, code := r.reading(sandbox.Reading{Only: []string{file("project/a.txt")}}, nil, "/bin/sh", "-c", "cat a.txt && cat sub/.env"); code == 0 || !strings.Contains(out, "content of project/a.txt") {
		t.Errorf("only one file: %d %s", code, out)
	}
	if out, code := r.reading(sandbox.Reading{Beyond: []string{file("other")}}, nil, "cat", "../other/x"); code != 0 {
		t.Errorf("a folder beyond: %d %s", code, out)
	}
}

func TestReadingRunsNoProgramOfTheWorkspace(t *testing.T) {
	r := newRig(t)
	bin := filepath.Join(r.project, "bin")
	tools := filepath.Join(r.home, "tools")
	for _, dir := range []string{bin, tools} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(bin, "gzip"), filepath.Join(tools, "mine")} {
		programs.File(t, name, "#!/bin/sh\necho RAN $0\n", 0o755)
	}
	path := "PATH=" + bin + ":bin::" + tools + ":" + os.Getenv("PATH")
	if out, code := r.reading(sandbox.Reading{}, []string{path}, "/bin/sh", "-c", `command -v gzip; echo "$PATH"; mine`); code != 0 || strings.Contains(out, bin) || !strings.Contains(out, "RAN "+tools) {
		t.Errorf("%d %s", code, out)
	}
	if out, _ := r.reading(sandbox.Reading{}, []string{path}, "/bin/sh", "-c", filepath.Join(bin, "gzip")); strings.Contains(out, "RAN") {
		t.Error(out)
	}
}

// Variables that lead a program to code or settings of the project do not reach a command that
// only reads, nor do those that make a shell run more than the command.
func TestEnvironmentOfReadingLeadsToNothingOfTheWorkspace(t *testing.T) {
	root := filepath.Join(t.TempDir(), "project")
	for given, want := range map[string]string{
		"PATH=/a:" + root + ":x::/b":                 "PATH=/a:/b",
		"PATH=" + root + "/bin":                      "PATH=",
		"X=y":                                        "X=y",
		"LD_LIBRARY_PATH=:/opt/lib":                  "LD_LIBRARY_PATH=/opt/lib",
		"LD_LIBRARY_PATH=.:":                         "",
		"LD_PRELOAD=" + root + "/x.so":               "",
		"LD_PRELOAD=/usr/lib/x.so":                   "LD_PRELOAD=/usr/lib/x.so",
		"DYLD_INSERT_LIBRARIES=" + root + "/x.dylib": "",
		"PERL5LIB=" + root + "/lib:/opt/perl":        "PERL5LIB=/opt/perl",
		"RIPGREP_CONFIG_PATH=" + root + "/.rgrc":     "",
		"RIPGREP_CONFIG_PATH=/opt/rgrc":              "RIPGREP_CONFIG_PATH=/opt/rgrc",
		"GIT_CONFIG_GLOBAL=gitconfig":                "",
		"GIT_CONFIG_GLOBAL=/dev/null":                "GIT_CONFIG_GLOBAL=/dev/null",
		"BASH_ENV=/opt/env.sh":                       "",
		"BASH_FUNC_ls%%=() { rm x; }":                "",
		"JAVA_TOOL_OPTIONS=-javaagent:x.jar":         "",
		"NOT_LD_PRELOAD=.":                           "NOT_LD_PRELOAD=.",
	} {
		if got := strings.Join(launch.Outside([]string{given}, []string{root}), "\n"); got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
}
