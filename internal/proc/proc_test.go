//go:build unix

package proc_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/proc"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/leaks"
)

func TestMain(m *testing.M) {
	playInit()
	leaks.Main(m)
}

// sh starts a shell line and returns a reader of its output.
func sh(t *testing.T, line string) (*proc.Process, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.Start(proc.Spec{Argv: []string{"sh", "-c", line}, Env: proc.CommandEnv(os.Environ(), proc.EnvRules{}), Stdout: w, Stderr: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
		<-p.Done()
		_ = r.Close()
	})
	return p, r
}

func waitDone(t *testing.T, p *proc.Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("process did not end")
	}
}

func TestDoneDoesNotWaitForThePipe(t *testing.T) {
	p, _ := sh(t, "sleep 300 & echo done")
	waitDone(t, p)
	// During exec a process has no arguments yet.
	eventually.True(t, "the sleep still runs", func() bool {
		left := p.Running()
		return len(left) == 1 && strings.Contains(left[0].Command, "sleep 300")
	})
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if left := p.Running(); len(left) != 0 {
		t.Fatalf("after kill: %v", left)
	}
}

func TestExitTellsCodesAndSignals(t *testing.T) {
	if signal.Ignored(os.Interrupt) { // as in tests that run in the background; a child would ignore it too
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	for _, tc := range []struct {
		line, signal string
		code         int
	}{
		{"exit 0", "", 0},
		{"exit 143", "", 143},
		{"kill -TERM $$", "terminated", -1},
		{"kill -INT 0", "interrupt", -1}, // reaches the child's own group only
	} {
		p, _ := sh(t, tc.line)
		waitDone(t, p)
		if e := p.Exit(); e.Code != tc.code || e.Signal != tc.signal {
			t.Errorf("%s: code %d signal %q, want %d %q", tc.line, e.Code, e.Signal, tc.code, tc.signal)
		}
	}
}

func TestKillEndsTheWholeTree(t *testing.T) {
	lines := map[string]int{
		"sleep 1000 & sleep 1000":                     3,
		"bash -c 'sleep 1000 & sleep 1000'; true":     4,
		"bash -m -c 'sleep 1000 & sleep 1000; true'":  2, // job control: a group for each
		"trap '' TERM HUP INT; sleep 1000 & wait":     2,
		"(trap '' TERM; exec sleep 1000) & sleep 999": 3,
	}
	if runtime.GOOS == "linux" {
		lines["setsid sleep 1000 & sleep 1000"] = 3
		lines["(setsid sh -c 'sleep 1000 & sleep 1000' &) ; sleep 1000"] = 4
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash on this machine")
	}
	for line, members := range lines {
		p, _ := sh(t, line)
		eventually.True(t, line, func() bool { return len(p.Running()) >= members })
		before := p.Running()
		if err := p.Kill(); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		waitDone(t, p)
		for _, i := range before {
			eventually.True(t, "gone: "+i.Command, func() bool { return !alive(i.Pid) })
		}
		if p.Exit().Signal != "killed" {
			t.Errorf("%s: exit %+v", line, p.Exit())
		}
	}
}

// alive reports whether a process lives; zombies don't.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

func TestStopAsksFirst(t *testing.T) {
	p, r := sh(t, "trap 'echo asked; exit 7' TERM; echo ready; while :; do sleep 0.05; done")
	buf := make([]byte, 6)
	if _, err := io.ReadFull(r, buf); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(context.Background(), time.Minute); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if p.Exit().Code != 7 || !strings.Contains(string(rest), "asked") {
		t.Fatalf("exit %+v, output %q", p.Exit(), rest)
	}
}

func TestStopGivesUpAskingWhenItsContextEnds(t *testing.T) {
	p, r := sh(t, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
	buf := make([]byte, 6)
	if _, err := io.ReadFull(r, buf); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Stop(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	waitDone(t, p)
}

func TestStdinIsAtItsEnd(t *testing.T) {
	p, r := sh(t, `cat; read x; echo "[$x]"`)
	waitDone(t, p)
	out, err := io.ReadAll(r)
	if err != nil || string(out) != "[]\n" {
		t.Fatalf("output %q, %v", out, err)
	}
}

func TestChildHasNoTerminalAndAnOwnSession(t *testing.T) {
	p, r := sh(t, `(echo x >/dev/tty) 2>/dev/null && echo tty; ps -o pid=,pgid=,sid= -p $$ 2>/dev/null || true`)
	waitDone(t, p)
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "tty") {
		t.Fatal("the child reached a terminal")
	}
	for _, f := range strings.Fields(string(out)) {
		if f != itoa(p.Pid()) {
			t.Fatalf("pid, group and session are not one: %q", out)
		}
	}
}

func TestLauncherStartsAndRefusesAfterClose(t *testing.T) {
	l := proc.NewLauncher()
	p, err := l.Start(proc.Spec{Argv: []string{"sh", "-c", "exit 3"}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if e := p.Exit(); e.Code != 3 {
		t.Fatalf("exit %+v", e)
	}
	if _, err := l.Start(proc.Spec{Argv: []string{"no-such-program-here"}}); err == nil {
		t.Fatal("a missing program started")
	}
	l.Close()
	l.Close()
	if _, err := l.Start(proc.Spec{Argv: []string{"sh"}}); err == nil {
		t.Fatal("a closed launcher started a child")
	}
}

func TestChildrenEndWithTheProgramHoweverItEnds(t *testing.T) {
	if os.Getenv("PROC_TEST_LAUNCH") != "" {
		l := proc.NewLauncher()
		for range 3 { // groups that ended are removed
			p, err := l.Start(proc.Spec{Argv: []string{"true"}, Env: os.Environ()})
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
		}
		p, err := l.Start(proc.Spec{Argv: []string{"sh", "-c", "(sleep 1000 & sleep 1000); true"}, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "three processes", func() bool { return len(p.Running()) >= 3 })
		for _, i := range p.Running() {
			_, _ = os.Stdout.WriteString(itoa(i.Pid) + "\n")
		}
		_, _ = os.Stdout.WriteString("end\n")
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		select {}
	}
	if runtime.GOOS != "linux" {
		t.Skip("the processes of a tree are listed on Linux only")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=TestChildrenEndWithTheProgramHoweverItEnds")
	cmd.Env = append(os.Environ(), "PROC_TEST_LAUNCH=1")
	cmd.WaitDelay = time.Second
	// A file, not a pipe: the children keep it open too.
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = file
	err = cmd.Run()
	out, readErr := os.ReadFile(file.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err == nil || !strings.Contains(string(out), "end\n") {
		t.Fatalf("%q %v", out, err)
	}
	for line := range strings.Lines(string(out)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			eventually.True(t, "gone: "+line, func() bool { return !alive(pid) })
		}
	}
}

func TestStartRefusesAnEmptyCommand(t *testing.T) {
	for _, argv := range [][]string{nil, {""}} {
		if _, err := proc.Start(proc.Spec{Argv: argv}); err == nil {
			t.Errorf("%v started", argv)
		}
	}
}

// secrets are variables that no child may see, because of their names or values.
var secrets = []string{
	"OPENAI_API_KEY=v", "ANTHROPIC_API_KEY=v", "GEMINI_API_KEY=v", "OPENROUTER_API_KEY=v", "MISTRAL_KEY=v", "GITHUB_TOKEN=v",
	"AWS_SECRET_ACCESS_KEY=v", "AWS_ACCESS_KEY_ID=v", "AWS_SESSION_TOKEN=v", "DB_PASSWORD=v", "NPM_AUTH=v", "MYSERVICE_APIKEY=v",
	"my_secret=v", "GOOGLE_APPLICATION_CREDENTIALS=v", "INNOCENT=sk-proj-abcdefghijklmnopqrstu", "ALSO=ghp_abcdefghijklmnopqrstuvwxyz012345", "MYCORP=v",
}

func TestCommandsSeeNoSecretAndNothingThatPrompts(t *testing.T) {
	base := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/h", "MAX_TOKENS=5", "TOKENIZERS_PARALLELISM=true", "SSH_AUTH_SOCK=/s", "PWD=/p", "OLDPWD=/o",
		"KEYBOARD=us", "MONKEY=1", "SSH_ASKPASS=/usr/bin/ask", "EDITOR=vim", "=C:=x", "broken", "KEPT_TOKEN=v",
	}, secrets...)
	env := proc.CommandEnv(base, proc.EnvRules{Drop: []string{"MYCORP"}, Keep: []string{"KEPT_TOKEN"}, Set: map[string]string{"EXTRA": "1"}})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.Start(proc.Spec{Argv: []string{"env"}, Env: env, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	waitDone(t, p)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, s := range secrets {
		name, _, _ := strings.Cut(s, "=")
		if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+"=") }) {
			t.Errorf("%s reached the child", name)
		}
	}
	for _, want := range []string{
		"HOME=/h", "MAX_TOKENS=5", "TOKENIZERS_PARALLELISM=true", "SSH_AUTH_SOCK=/s", "KEYBOARD=us", "MONKEY=1",
		"EDITOR=true", "GIT_EDITOR=:", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "TERM=dumb", "EXTRA=1", "KEPT_TOKEN=v",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "SSH_ASKPASS=") }) {
		t.Error("SSH_ASKPASS is set")
	}
}

func TestServersSeeTheAllowListOnly(t *testing.T) {
	base := append([]string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "LANG=C", "FOO=bar", "NAMED_TOKEN=t", "TMPDIR=/t"}, secrets...)
	got := proc.ServerEnv(base, []string{"NAMED_TOKEN"}, map[string]string{"X": "y", "LANG": "de"})
	want := []string{"HOME=/h", "LANG=de", "LC_ALL=C", "NAMED_TOKEN=t", "PATH=/bin", "TMPDIR=/t", "X=y"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v\nwant %v", got, want)
	}
}

// Proxies and certificates of a company's network reach servers and commands alike. The
// password of a proxy passes only where the variable was named.
func TestChildrenReachTheNetworkAsWeDo(t *testing.T) {
	t.Parallel()
	base := []string{
		"HTTPS_PROXY=http://user:secret@proxy.example:3128/", "http_proxy=proxy.example:3128", "ALL_PROXY=socks5://user@10.0.0.1:1080", "NO_PROXY=localhost,.example",
		"SSL_CERT_FILE=/c.pem", "NODE_EXTRA_CA_CERTS=/n.pem", "REQUESTS_CA_BUNDLE=/r.pem", "npm_config_cafile=/f.pem", "npm_config_proxy=http://a:b@p:1",
	}
	want := []string{
		"HTTPS_PROXY=http://proxy.example:3128/", "http_proxy=proxy.example:3128", "ALL_PROXY=socks5://10.0.0.1:1080", "NO_PROXY=localhost,.example",
		"SSL_CERT_FILE=/c.pem", "NODE_EXTRA_CA_CERTS=/n.pem", "REQUESTS_CA_BUNDLE=/r.pem", "npm_config_cafile=/f.pem", "npm_config_proxy=http://p:1",
	}
	for name, got := range map[string][]string{"server": proc.ServerEnv(base, nil, nil), "command": proc.CommandEnv(base, proc.EnvRules{})} {
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no %s in %v", name, w, got)
			}
		}
	}
	for name, got := range map[string][]string{
		"server": proc.ServerEnv(base, []string{"HTTPS_PROXY"}, nil), "command": proc.CommandEnv(base, proc.EnvRules{Keep: []string{"HTTPS_PROXY"}}),
	} {
		if !slices.Contains(got, base[0]) {
			t.Errorf("%s: a proxy that was named lost its password: %v", name, got)
		}
	}
}

func BenchmarkStartToDone(b *testing.B) {
	env := proc.CommandEnv(os.Environ(), proc.EnvRules{})
	for b.Loop() {
		p, err := proc.Start(proc.Spec{Argv: []string{"true"}, Env: env})
		if err != nil {
			b.Fatal(err)
		}
		<-p.Done()
	}
}

func BenchmarkRunning(b *testing.B) {
	p, err := proc.Start(proc.Spec{Argv: []string{"true"}, Env: os.Environ()})
	if err != nil {
		b.Fatal(err)
	}
	<-p.Done()
	for b.Loop() {
		p.Running()
	}
}

// Variables that don't belong in a transcript are removed because of their names or values;
// those that programs need to run stay.
func TestWithoutSecretsLeavesWhatMayBePrinted(t *testing.T) {
	secret := []string{
		"DB_PASS=hunter2", "SSHPASS=x", "JWT=x", "COOKIE=x", "STRIPE_SK=x", "DATABASE_URL=postgres://u:p@h/db", "HTTPS_PROXY=http://u:p@proxy:3128",
		"AZURE_CONNECTION_STRING=DefaultEndpointsProtocol=https;AccountKey=abc", "SLACK_WEBHOOK_URL=x", "TEAM_URL=https://hooks.slack.com/services/T0/B0/xyz", "MY_THING=eyJhbGciOi.eyJzdWIi.c2ln",
		"X=ghp_0123456789abcdefghij", "REDIS=redis://:p@h:6379", "SETTING=a7Bk9Qz2Lm4Xr8Tw1Vn5Yc3D", "OPTS=--password=x", "SENTRY_DSN=x", "GITHUB_TOKEN=x", "CERT=-----BEGIN PRIVATE KEY-----",
	}
	plain := []string{
		"PATH=/usr/bin:/bin", "HOME=/home/me", "LANG=de_DE.UTF-8", "LS_COLORS=di=01;34:ln=01;36", "GITHUB_SHA=0123456789abcdef0123456789abcdef01234567", "PWD=/a/b", "OLDPWD=/a", "GOFLAGS=-mod=mod",
		"XDG_RUNTIME_DIR=/run/user/1000", "NO_PROXY=localhost,127.0.0.1", "HTTP_PROXY=http://proxy:3128", "TERM=xterm-256color", "JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64", "INVOCATION_ID=8c2d0f0a5f5e4c8d9b6f0f6f3c1d2e3f",
		"VERIFY_BYPASS=1", "GIT_CONFIG_COUNT=3", "SHELL=/bin/bash", "EDITOR=vim", "npm_config_cache=/home/me/.npm",
	}
	if got := proc.WithoutSecrets(append(slices.Clone(secret), plain...), nil); !slices.Equal(got, plain) {
		t.Errorf("left %q\nwant %q", got, plain)
	}
	kept := proc.CommandEnv(append(slices.Clone(secret), plain...), proc.EnvRules{Keep: []string{"JWT"}})
	for _, kv := range secret {
		if slices.Contains(kept, kv) != (kv == "JWT=x") {
			t.Errorf("a command's environment: %s", kv)
		}
	}
	for _, kv := range plain {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains([]string{"TERM", "EDITOR"}, name) && !slices.Contains(kept, kv) {
			t.Errorf("a command lacks %s", kv)
		}
	}
	if got := proc.WithoutSecrets(secret, []string{"DB_PASS"}); !slices.Equal(got, secret[:1]) {
		t.Errorf("kept %q", got)
	}
}
