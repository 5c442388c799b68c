//go:build linux

package permission_test

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/launch"
	"jcode/internal/proc"
	"jcode/internal/testkit/observe"
	"jcode/tools"
	"jcode/tools/permission"
	"jcode/tools/permission/repository"
)

// searchPath is a PATH that may contain a folder of the workspace.
func (a *arena) searchPath(r *rand.Rand) string {
	path := "/usr/local/bin:/usr/bin:/bin"
	switch r.IntN(4) {
	case 0:
		path = filepath.Join(a.root, "bin") + ":" + path
	case 1:
		path += ":" + filepath.Join(a.root, "bin") + ":bin:"
	}
	return path
}

// helpers are the programs that vouched programs start themselves.
var helpers = strings.Fields("sh dash bash git gzip bzip2 xz grep file")

// wrong says why a command that only reads must not cause an event; "" if it may.
func (a *arena) wrong(e observe.Event, line, temp string) string {
	if e.NoFollow {
		if info, err := os.Lstat(e.Path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return "" // a link that is not followed can't be opened
		}
	}
	real, err := filepath.EvalSymlinks(e.Path)
	if err != nil {
		real = e.Path
	}
	switch e.Call {
	case "exec":
		name := filepath.Base(real)
		switch {
		case strings.HasPrefix(real, a.base):
			return "starts a program of the project"
		case err != nil: // looked for on the search path
		case !slices.Contains(helpers, name) && !strings.Contains(line, filepath.Base(e.Path)):
			return "starts an unexpected program"
		}
	case "open", "change":
		switch {
		case filepath.Base(e.Path) == "index.lock" && strings.Contains(line, "git"):
			// git diff refreshes its own index if the kernel allows it.
		case e.Write && e.Path != "/dev/null" && e.Path != "/dev/tty" && !strings.HasPrefix(e.Path, temp) && !strings.HasPrefix(e.Path, "/proc/self/fd/"):
			return "writes"
		case strings.HasPrefix(real, a.outside) || strings.HasPrefix(real, filepath.Join(a.home, ".ssh")) || real == filepath.Join(a.home, "notes"):
			return "reads what lies outside"
		case err == nil && strings.HasPrefix(real, filepath.Join(a.root, "secrets")+"/"):
			return "reads what a rule denies"
		}
	case "socket":
		return "opens a socket"
	case "connect":
		if !strings.HasPrefix(e.Path, "/var/run/nscd/") && !strings.HasPrefix(e.Path, "/run/systemd/userdb/") {
			return "connects"
		}
	}
	return ""
}

// differentialLimits returns how long a requested search runs, and its seed.
func differentialLimits(t *testing.T) (limit time.Duration, seed uint64) {
	t.Helper()
	var err error
	if s := os.Getenv("JCODE_DIFFERENTIAL"); s != "" {
		if limit, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	seed = 1
	if s := os.Getenv("JCODE_DIFFERENTIAL_SEED"); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return limit, seed
}

// TestNothingVouchedForDoesMoreThanRead generates hostile repositories and command lines, and runs
// what the gate allows unasked, watched but not confined by the kernel: the analysis alone must
// be right. JCODE_DIFFERENTIAL (a duration) makes it run longer, JCODE_DIFFERENTIAL_SEED changes
// the input.
func TestNothingVouchedForDoesMoreThanRead(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	if _, err := observe.Run(exec.Command("/bin/true"), time.Minute); err != nil {
		t.Skipf("programs can't be watched here: %v", err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	limit, lines := 20*time.Second, 250
	if testing.Short() {
		lines = 40
	}
	longer, seed := differentialLimits(t)
	if longer > 0 {
		limit, lines = longer, 1<<30
	}
	a := newArena(t)
	r := rand.New(rand.NewPCG(seed, 0))
	made, ran, repositories := 0, 0, 0
	began := time.Now()
	for ; ran < lines && time.Since(began) < limit && !t.Failed(); repositories++ {
		a.lay(r)
		path := a.searchPath(r)
		t.Setenv("PATH", path)
		var rules permission.RuleSet
		if r.IntN(2) == 0 {
			rules = parseRules(t, nil, nil, []string{"read(secrets/**)", "read(.env)"})
		}
		env := func() []string {
			return proc.CommandEnv([]string{"PATH=" + path, "HOME=" + a.home, "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}, proc.EnvRules{})
		}
		gate := newGate(t, a.root, a.home, rules, func(o *permission.Options) { o.Programs.Base = env })
		for range 12 {
			line := a.line(r)
			made++
			d := gate.Check(context.Background(), execRequest(line, caller(tools.ModeAsk, nil)))
			if d.Allow && d.Vouched != nil {
				ran++
				a.watch(line, env(), *d.Vouched, len(rules.Deny) > 0)
			}
		}
		if err := os.RemoveAll(filepath.Dir(a.root)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d: %d repositories, %d lines made, %d of them run unasked and watched, %v", seed, repositories, made, ran, time.Since(began).Round(time.Second))
	if ran == 0 {
		t.Error("no line was vouched for: this shows nothing")
	}
}

// shows reports whether the output of a program contains a text.
func (a *arena) shows(printed *os.File, text string) bool {
	a.t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(printed, 0, 1<<20))
	if err != nil {
		a.t.Fatal(err)
	}
	return strings.Contains(string(data), text)
}

// watch runs a line as exec does if the kernel can't confine it.
func (a *arena) watch(line string, env []string, v tools.Vouched, ruled bool) {
	a.t.Helper()
	temp := filepath.Join(filepath.Dir(a.root), "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		a.t.Fatal(err)
	}
	env = launch.Outside(append(env, "TMPDIR="+temp), []string{a.root})
	if v.Git {
		env = repository.Overrides(env)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	printed, err := os.CreateTemp(a.base, "printed-")
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _, _ = printed.Close(), os.Remove(printed.Name()) }()
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"/bin/sh", "-c", line}, Dir: a.root, Env: env, Stdin: null, Stdout: printed, Stderr: printed}
	before := time.Now()
	events, err := observe.Run(cmd, 2*time.Second)
	if err != nil {
		a.t.Fatal(err)
	}
	if ruled && a.shows(printed, "SECRET=") {
		a.t.Errorf("%q is vouched for and prints what a rule denies", line)
	}
	for _, e := range events {
		why := a.wrong(e, line, temp)
		if why == "" || why == "reads what a rule denies" && !ruled {
			continue
		}
		config, _ := os.ReadFile(filepath.Join(a.root, ".git", "config")) // for the message only
		a.t.Errorf("%q is vouched for and %s: %s\nafter %v, PATH %v, configuration:\n%s", line, why, e, time.Since(before), env[slices.IndexFunc(env, func(s string) bool { return strings.HasPrefix(s, "PATH=") })], config)
	}
}
