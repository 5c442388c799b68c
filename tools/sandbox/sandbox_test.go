//go:build linux

package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"jcode/internal/proc"
	"jcode/internal/testkit/shorten"
	"jcode/tools/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "dial-unix" {
		os.Exit(dialUnix(os.Args[2]))
	}
	os.Exit(m.Run())
}

// dialUnix connects to a socket; this binary is started confined to do it.
func dialUnix(path string) int {
	c, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer c.Close()
	fmt.Println("connected")
	return 0
}

// rig is a workspace, a home with keys, and a box around them. The temporary folder is
// outside of both, so that the rest of the test's folder is not writable by accident.
type rig struct {
	*sandbox.Box
	t                   testing.TB
	base, project, home string
	tmp                 string
	made                []string // protected files that the last command made
	policy              sandbox.Policy
}

func newRig(t testing.TB) *rig {
	t.Helper()
	shorten.OneIn(t, 4) // a child's processes tell a race detector little
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, base: base, project: filepath.Join(base, "project"), home: filepath.Join(base, "home"), tmp: filepath.Join(base, "tmp")}
	for _, f := range []string{
		"project/a.txt", "project/.git/hooks/pre-commit", "project/.git/config", "project/.jcode/config.json", "project/sub/.env",
		"home/.ssh/id", "home/.aws/credentials", "home/.config/jcode/credentials.json", "home/notes.txt", "home/.cache/build/x", "tmp/x", "other/x",
	} {
		path := filepath.Join(base, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+f+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", r.tmp)
	r.policy = sandbox.Policy{
		Temp:  filepath.Join(base, "home", ".cache", "reading"),
		Roots: []string{r.project}, Caches: []string{filepath.Join(r.home, ".cache", "build"), filepath.Join(r.home, "none")},
		Hidden:  []string{filepath.Join(r.home, ".ssh"), filepath.Join(r.home, ".aws"), filepath.Join(r.home, ".config", "jcode"), filepath.Join(r.home, "none")},
		Protect: []string{".env"},
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.Box = sandbox.New(self, func() sandbox.Policy { return r.policy })
	if !r.Available() {
		t.Skipf("no Landlock on this kernel: %v", r.Report().Why)
	}
	return r
}

// sh runs a shell text confined in the workspace.
func (r *rig) sh(line string) (out string, code int) {
	r.t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	spec, before, err := r.Confine(proc.Spec{Argv: []string{"/bin/sh", "-c", line}, Dir: r.project, Env: proc.CommandEnv(os.Environ(), proc.EnvRules{}), Stdout: write, Stderr: write})
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
		r.t.Errorf("%s does not end", line)
		_ = p.Kill()
	}
	b, err := io.ReadAll(read)
	if err != nil {
		r.t.Fatal(err)
	}
	r.made = before.Changed()
	return string(b), p.Exit().Code
}

func (r *rig) content(path string) string {
	b, err := os.ReadFile(filepath.Join(r.base, filepath.FromSlash(path)))
	if err != nil {
		return ""
	}
	return string(b)
}

// everyWay runs a test with everything that this kernel supports, and with Landlock alone.
func everyWay(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Run("all layers", func(t *testing.T) { f(t, newRig(t)) })
	t.Run("Landlock alone", func(t *testing.T) {
		r := newRig(t)
		r.WithoutNamespaces()
		f(t, r)
	})
}

func TestConfinedCommandsWriteOnlyWhereTheyMay(t *testing.T) { everyWay(t, writesOnlyWhereItMay) }

func writesOnlyWhereItMay(t *testing.T, r *rig) {
	for _, tc := range []struct {
		line, file string
		works      bool
	}{
		{"echo new > b.txt", "project/b.txt", true},
		{"echo new > a.txt", "project/a.txt", true},
		{"mkdir -p d/e && echo new > d/e/f && mv d/e/f g && rm -r d", "project/g", true},
		{"echo new > .git/HEAD", "project/.git/HEAD", true},
		{"echo new > $TMPDIR/y", "tmp/y", true},
		{"echo new > ../home/.cache/build/y", "home/.cache/build/y", true},
		{"echo new > /dev/null && echo new > h", "project/h", true},
		{"echo new > ../other/y", "other/y", false},
		{"echo new > ../other/x", "other/x", false},
		{"echo new >> ../home/notes.txt", "home/notes.txt", false},
		{"echo new > ../home/.bashrc", "home/.bashrc", false},
		{"echo new > ../home/.ssh/authorized_keys", "home/.ssh/authorized_keys", false},
		{"ln -s ../other l && echo new > l/y", "other/y", false},
		{"rm ../other/x; true", "other/x", false},
		{"mv ../other/x . ; echo new > x", "other/x", false},
		{"sh -c 'sh -c \"echo new > ../other/y\"'", "other/y", false},
	} {
		before := r.content(tc.file)
		out, code := r.sh(tc.line)
		now := r.content(tc.file)
		if tc.works && (now != "new\n" || code != 0) {
			t.Errorf("%s: %d %q, file %q", tc.line, code, out, now)
		}
		if !tc.works && now != before {
			t.Errorf("%s wrote %s: %q", tc.line, tc.file, now)
		}
		if !tc.works && code != 0 && r.Blamed(out, code) == "" {
			t.Errorf("%s: the failure %q is not recognised", tc.line, out)
		}
	}
}

func TestConfinedCommandsReadNoSecrets(t *testing.T) { everyWay(t, readsNoSecrets) }

func readsNoSecrets(t *testing.T, r *rig) {
	for line, want := range map[string]bool{
		"cat a.txt ../home/notes.txt ../other/x /etc/passwd":     true,
		"ls /usr/bin >/dev/null && cat ../home/notes.txt":        true,
		"cat ../home/.ssh/id":                                    false,
		"cat ../home/.aws/credentials":                           false,
		"cat ../home/.config/jcode/credentials.json":             false,
		"ln -s ../home/.ssh s; cat s/id":                         false,
		"cp -r ../home/.ssh copy; cat copy/id":                   false,
		fmt.Sprintf("cat /proc/%d/environ", os.Getpid()):         false,
		fmt.Sprintf("cat /proc/%d/root/etc/passwd", os.Getpid()): false,
		fmt.Sprintf("head -c 1 /proc/%d/mem", os.Getpid()):       false,
		fmt.Sprintf("cat /proc/%d/maps", os.Getpid()):            false,
		fmt.Sprintf("readlink /proc/%d/fd/0", os.Getpid()):       false,
		fmt.Sprintf("ls /proc/%d/cwd/", os.Getpid()):             false,
	} {
		out, code := r.sh(line)
		leaks := strings.Contains(out, "content of home/.ssh") || strings.Contains(out, "credentials") && strings.Contains(out, "content of") || strings.Contains(out, "TMPDIR=")
		if (code == 0) != want || !want && leaks {
			t.Errorf("%s: %d %q", line, code, out)
		}
	}
}

func TestProtectedFilesInTheWorkspaceAreLocked(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	for _, line := range []string{
		"echo new > .git/hooks/pre-commit", "echo new > .git/hooks/post-commit", "rm .git/hooks/pre-commit", "echo new >> .git/config", "mv .git .old",
		"mv .git/hooks .git/h2", "echo new > .jcode/config.json", "rm -rf .jcode", "mv .jcode x", "echo new > sub/.env", "umount .git/hooks", "mount -t tmpfs none sub",
	} {
		out, code := r.sh(line)
		if code == 0 {
			t.Errorf("%s worked: %q", line, out)
		}
		if r.Blamed(out, code) == "" && !strings.Contains(out, "busy") && !strings.Contains(out, "superuser") {
			t.Errorf("%s: the failure %q is not recognised", line, out)
		}
	}
	for _, f := range []string{"project/.git/hooks/pre-commit", "project/.git/config", "project/.jcode/config.json", "project/sub/.env"} {
		if !strings.HasPrefix(r.content(f), "content of") {
			t.Errorf("%s is %q", f, r.content(f))
		}
	}
	if out, code := r.sh("cat .git/config .jcode/config.json && ls -a ../home/.ssh"); code != 0 || strings.Contains(out, "id") {
		t.Errorf("%d %q", code, out)
	}
}

func TestConfinedCommandsKeepWhoTheyAre(t *testing.T) {
	r := newRig(t)
	out, code := r.sh("id -u; pwd; kill -0 $$ && echo self; exit 7")
	if want := fmt.Sprintf("%d\n%s\nself\n", os.Getuid(), r.project); out != want || code != 7 {
		t.Errorf("%d %q, want %q", code, out, want)
	}
	if _, code := r.sh(fmt.Sprintf("kill -0 %d", os.Getpid())); code == 0 && r.Report().Landlock >= 6 {
		t.Error("a signal left the sandbox")
	}
	if out, code := r.sh("no-such-program"); code != 127 {
		t.Errorf("%d %q", code, out)
	}
}

func TestNetworkOfConfinedCommands(t *testing.T) { everyWay(t, networkIsCut) }

func networkIsCut(t *testing.T, r *rig) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dial := fmt.Sprintf("%s -c 'import socket; socket.create_connection((\"127.0.0.1\", %d), 5); print(\"in\")'", python, l.Addr().(*net.TCPAddr).Port)
	if r.Report().Network != "" {
		if out, code := r.sh(dial); code == 0 {
			t.Errorf("it has a network: %q", out)
		}
	}
	if r.Report().Network == "namespace" {
		own := python + " -c 'import socket; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); socket.create_connection(s.getsockname(), 5); print(\"own\")'"
		if out, code := r.sh(own); code != 0 || !strings.Contains(out, "own") {
			t.Errorf("no loopback of its own: %d %q", code, out)
		}
	}
	r.policy.Network = true
	if out, code := r.sh(dial); code != 0 || !strings.Contains(out, "in") {
		t.Errorf("no network although allowed: %d %q", code, out)
	}
}

// Another program's socket may go at any moment, also while it is being hidden.
func TestConfinedCommandsStartWhileSocketsOfOthersComeAndGo(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skip("this kernel can't hide sockets")
	}
	short, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	stop := make(chan struct{})
	var others sync.WaitGroup
	for i := range 6 {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if l, err := net.Listen("unix", filepath.Join(short, strconv.Itoa(i))); err == nil {
					_ = l.Close() // which removes it
				}
			}
		})
	}
	defer others.Wait()
	defer close(stop)
	for range 30 {
		if out, code := r.sh("echo started"); code != 0 || out != "started\n" {
			t.Fatalf("exit %d: %q", code, out)
		}
	}
}

// A process that can connect to a terminal multiplexer, an editor or a key agent can act outside the sandbox.
func TestConfinedCommandsReachNoSocketsOfOthers(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields && r.Report().Landlock < 9 {
		t.Skip("this kernel can't hide sockets")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("/tmp", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	listen := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Skipf("no socket at %s: %v", path, err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return path
	}
	tmux, agent := listen(filepath.Join(short, "tmux-0", "default")), listen(filepath.Join(short, "agent"))
	t.Setenv("SSH_AUTH_SOCK", agent)
	t.Setenv("TMUX", tmux+",12,0")
	for _, path := range []string{tmux, agent} {
		if out, code := r.sh(self + " dial-unix " + path); code == 0 {
			t.Errorf("%s: %q", path, out)
		}
	}
	if out, _ := r.sh(`echo "[$SSH_AUTH_SOCK$TMUX$DISPLAY]"`); out != "[]\n" {
		t.Errorf("it is told of them: %q", out)
	}
	if r.Report().Landlock >= 6 || r.Report().Network == "namespace" {
		abstract, err := net.Listen("unix", "@jcode-test-"+filepath.Base(short))
		if err != nil {
			t.Fatal(err)
		}
		defer abstract.Close()
		for _, network := range []bool{false, true} {
			if r.policy.Network = network; network && r.Report().Landlock < 6 {
				break
			}
			if out, code := r.sh(self + " dial-unix " + abstract.Addr().String()); code == 0 {
				t.Errorf("an abstract one, network %v: %q", network, out)
			}
		}
		r.policy.Network = false
	}
	// A service of the project itself may be used.
	r.project = short
	r.policy.Roots = []string{short}
	if out, code := r.sh(self + " dial-unix " + agent); code != 0 {
		t.Errorf("the project's own: %q", out)
	}
}

// A person's terminal can be read and written by all programs of that person, but not by confined ones.
func TestConfinedCommandsHaveNoTerminalsButTheirOwn(t *testing.T) { everyWay(t, ownTerminals) }

func ownTerminals(t *testing.T, r *rig) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer ptmx.Close()
	defer tty.Close()
	if out, code := r.sh("echo evil > " + tty.Name()); code == 0 {
		t.Errorf("it wrote to %s: %q", tty.Name(), out)
	}
	python, err := exec.LookPath("python3")
	if err != nil || !r.Report().Shields {
		return
	}
	if out, code := r.sh(python + ` -c 'import os; m, s = os.openpty(); os.write(s, b"own"); print(os.read(m, 9))'`); code != 0 || !strings.Contains(out, "own") {
		t.Errorf("no terminal of its own: %d %q", code, out)
	}
}

// With namespaces, each command has its own shared memory.
func TestConfinedCommandsSeeNoSharedMemoryOfOthers(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skip("no namespaces here")
	}
	f, err := os.CreateTemp("/dev/shm", "jcode-test-")
	if err != nil {
		t.Skipf("no shared memory here: %v", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if out, code := r.sh("cat " + f.Name()); code == 0 {
		t.Errorf("%q", out)
	}
	if out, code := r.sh("echo x > /dev/shm/own && cat /dev/shm/own"); code != 0 || out != "x\n" {
		t.Errorf("%d %q", code, out)
	}
}

func TestUsualToolsWorkConfined(t *testing.T) {
	r := newRig(t)
	if _, err := exec.LookPath("git"); err == nil {
		if err := os.RemoveAll(filepath.Join(r.project, ".git")); err != nil {
			t.Fatal(err)
		}
		env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		for _, args := range [][]string{{"init", "-q"}, {"config", "user.email", "a@b"}, {"config", "user.name", "n"}} {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = r.project, env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
		}
		if out, code := r.sh("git add a.txt && git commit -qm one && git log --oneline && git status --short"); code != 0 || !strings.Contains(out, "one") {
			t.Errorf("git: %d %q", code, out)
		}
	}
}

func TestProtectedFilesThatAreMadeAreNamed(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		if _, code := r.sh("echo x > b.txt"); code != 0 || len(r.made) != 0 {
			t.Errorf("%d %q", code, r.made)
		}
		if _, code := r.sh("mkdir .claude && echo '{}' > .mcp.json"); code != 0 || len(r.made) != 2 {
			t.Errorf("%d %q", code, r.made)
		}
	})
}

// If nothing can be locked, a change of a protected file or folder is at least noticed, at any
// depth and even if the size is the same.
func TestProtectedFilesThatAreChangedAreNamed(t *testing.T) {
	r := newRig(t)
	r.WithoutNamespaces()
	for line, want := range map[string]string{
		"cat .git/config > /dev/null; echo x > b.txt": "",
		"echo new > .git/hooks/post-commit":           ".git/hooks",
		"rm .git/config":                              ".git/config",
		"chmod +x .git/hooks/pre-commit":              ".git/hooks",
		"mkdir -p .jcode/lua/tools/x":                 ".jcode",
		"echo new > sub/.env":                         "sub/.env",
		"echo ../evil > .git/commondir":               ".git/commondir",
		"mkdir -p .git/modules/m/hooks":               ".git/modules/m/hooks",
		"rm sub/.env":                                 "sub/.env",
	} {
		_, code := r.sh(line)
		got := ""
		for _, path := range r.made {
			rel, err := filepath.Rel(r.project, path)
			if err != nil {
				t.Fatal(err)
			}
			got += rel
		}
		if code != 0 || got != want {
			t.Errorf("%s: %d, named %q, want %q", line, code, got, want)
		}
	}
}

func TestHomeAsWorkspaceHidesKeysToo(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.policy.Roots = []string{r.home}
		if out, code := r.sh("cat ../home/.ssh/id"); code == 0 {
			t.Errorf("%q", out)
		}
		if out, code := r.sh("echo new > ../home/.ssh/authorized_keys"); code == 0 {
			t.Errorf("%q", out)
		}
		if out, code := r.sh("echo new > ../home/notes.txt && cat ../home/notes.txt"); code != 0 || out != "new\n" {
			t.Errorf("%d %q", code, out)
		}
	})
}

func TestWorkspaceInsideWhatIsHiddenStays(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.policy.Hidden = append(r.policy.Hidden, r.base)
		if out, code := r.sh("cat a.txt && echo new > b.txt"); code != 0 {
			t.Errorf("%d %q", code, out)
		}
		if out, code := r.sh("cat ../home/.ssh/id"); code == 0 {
			t.Errorf("%q", out)
		}
	})
}

func TestReportSaysWhatThereIs(t *testing.T) {
	r := newRig(t)
	lines := strings.Join(r.Report().Lines(), "\n")
	if !strings.Contains(lines, fmt.Sprintf("Landlock %d", r.Report().Landlock)) {
		t.Error(lines)
	}
	t.Log(lines)
	none := sandbox.Report{Why: []string{"sandbox: because"}}
	if s := strings.Join(none.Lines(), "\n"); !strings.Contains(s, "mode auto asks") || !strings.Contains(s, "because") {
		t.Error(s)
	}
}

func TestMainRefusesABrokenOrder(t *testing.T) {
	for _, args := range [][]string{nil, {"{}"}, {"{}", "ls"}, {"nonsense", "ls"}} {
		if code := sandbox.Main(args); code != 125 {
			t.Errorf("%v: %d", args, code)
		}
	}
}

// A build works in the sandbox, with a cache that unconfined builds do not read.
func TestConfinedCommandsHaveACacheOfTheirOwn(t *testing.T) {
	r := newRig(t)
	cache := filepath.Join(r.home, ".cache", "confined")
	r.policy.Cache = cache
	out, code := r.sh(`mkdir -p "$XDG_CACHE_HOME/x" "$GOCACHE" && echo made`)
	if code != 0 || !strings.Contains(out, "made") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(cache, "go-build")); err != nil {
		t.Error(err)
	}
}
