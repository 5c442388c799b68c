//go:build linux

package permission_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/proc"
	"jcode/tools"
	"jcode/tools/permission"
	"jcode/tools/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// yard is a folder in which lines are run, confined, and which is compared afterwards.
type yard struct {
	t          testing.TB
	root, home string
	gate       *permission.Gate
	box        *sandbox.Box
	shells     []string
	before     string
}

func newYard(t testing.TB) *yard {
	t.Helper()
	root, home := workspace(t)
	y := &yard{t: t, root: root, home: home, gate: newGate(t, root, home, permission.RuleSet{})}
	if git, err := exec.LookPath("git"); err == nil {
		if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"init", "-q"}, {"-c", "user.email=a@b", "-c", "user.name=n", "commit", "-q", "--allow-empty", "-m", "x"}} {
			cmd := exec.Command(git, args...)
			cmd.Dir, cmd.Env = root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "HOME="+home)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	y.box = sandbox.New(self, func() sandbox.Policy { return sandbox.Policy{Roots: []string{filepath.Dir(root)}} })
	if !y.box.Available() {
		t.Skipf("no sandbox to run lines in: %v", y.box.Report().Why)
	}
	for _, sh := range []string{"sh", "bash", "dash"} {
		path, err := exec.LookPath(sh)
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(y.shells, real) {
			y.shells = append(y.shells, real)
		}
	}
	y.before = y.state()
	return y
}

// state returns everything in the yard as one string.
func (y *yard) state() string {
	var b strings.Builder
	err := filepath.WalkDir(filepath.Dir(y.root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", path, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
	return b.String()
}

// reads reports whether the gate considers a line read-only.
func (y *yard) reads(line string) bool {
	e := y.gate.Explain(context.Background(), caller(tools.ModeAsk, nil), line)
	return e.Outcome == "runs"
}

// check runs a line that is considered read-only in each shell, and checks that nothing
// changed.
func (y *yard) check(line string) {
	y.t.Helper()
	y.run(line, func(s proc.Spec) (proc.Spec, error) {
		confined, _, err := y.box.Confine(s)
		return confined, err
	})
}

func (y *yard) run(line string, confine func(proc.Spec) (proc.Spec, error)) {
	y.t.Helper()
	for _, sh := range y.shells {
		env := proc.CommandEnv([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + y.home, "X=touch pwned", "GIT_CONFIG_GLOBAL=/dev/null"}, proc.EnvRules{})
		spec, err := confine(proc.Spec{Argv: []string{sh, "-c", line}, Dir: y.root, Env: env})
		if err != nil {
			y.t.Fatal(err)
		}
		p, err := proc.Start(spec)
		if err != nil {
			y.t.Fatal(err)
		}
		select {
		case <-p.Done():
		case <-time.After(200 * time.Millisecond): // yes, tail -f, sleep
		}
		if err := p.Kill(); err != nil {
			y.t.Fatal(err)
		}
		<-p.Done()
		if now := y.state(); now != y.before {
			y.t.Fatalf("%s: %q is called read-only and changed\n%s", sh, line, difference(y.before, now))
		}
	}
}

func difference(a, b string) string {
	have := map[string]bool{}
	for line := range strings.Lines(a) {
		have[line] = true
	}
	var out strings.Builder
	for line := range strings.Lines(b) {
		if !have[line] {
			out.WriteString("+ " + line)
		}
	}
	return out.String()
}

// pieces of lines: programs that read, flags that may make them write, and operators that join
// them.
var (
	programs = strings.Fields("ls cat head tail wc sort uniq find grep rg git tree diff cut tr tee touch rm cp sed awk xxd file date echo printf test [ cd env xargs sh eval command type stat du od " +
		"true false seq sleep pwd jq base64 hostname ps which time exec timeout nl tac comm join paste /bin/ls ./ls go python3")
	subcommands = strings.Fields("status log diff show branch tag remote stash config grep ls-files blame worktree reflog rev-parse cat-file commit checkout push -C -c --version version env")
	flags       = strings.Fields("-l -a -n -r -R -o -O -D -d -i -e -f -x -p -v -w -L -T -c -s -u -ofile -no -1 5 --output=file --output file --outp=file -name *.go -exec -delete -fprint -print {} ; + " +
		"--compress-program=sh --files0-from=a.go -- - --all -b new --list --get user.name +%s -m --pre=touch --follow p w 1,2p 1wfile s/a/b/w'file' 'a[$(touch x)]' '-v a[$(touch${IFS}x)]' $_ %G? import")
	files   = strings.Fields("a.go b.go sub sub/c.go *.go . .. out ~ /etc/passwd file $X \"$X\" ${X} $(touch x) `touch x` 'a b' \"a b\" x=1 {a,b} a\\ b .git/config - $x \"$x\" [!b]* [[:alpha:]]* 'a'*")
	joiners = []string{" ; ", " && ", " || ", " | ", " & ", "\n", " > file ", " >> file ", " 2>&1 ", " > /dev/null ", " < a.go ", " >| file ", " &> file ", " <<E\nx\nE\n", " # ", " 2> file", ">&2 ", "\t", " <<E\n$((x))\nE\n", " <<E\n${x:=a}\nE\n"}
	wraps   = []string{
		"(%s)", "{ %s; }", "if %s; then ls; fi", "for f in a b; do %s; done", "while %s; do break; done", "! %s", "X=1 %s", "$(%s)", "\"%s\"", "'%s'", "f() { %s; }; f", "case a in a) %s;; esac", "cd sub && %s",
		"for x in 'a[$(touch pwned)]' '-v a[$(touch${IFS}pwned)]'; do %s; done", "case $x in *) %s;; esac", "case $((x)) in *) %s;; esac",
	}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// randomLine returns something that looks like a shell line.
func randomLine(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(2) {
		if i > 0 {
			b.WriteString(pick(r, joiners))
		}
		program := pick(r, programs)
		b.WriteString(program)
		if (program == "git" || program == "go") && r.IntN(4) > 0 {
			b.WriteString(" " + pick(r, subcommands))
		}
		for range r.IntN(4) {
			if r.IntN(2) == 0 {
				b.WriteString(" " + pick(r, flags))
			} else {
				b.WriteString(" " + pick(r, files))
			}
		}
	}
	line := b.String()
	if r.IntN(5) == 0 {
		line = fmt.Sprintf(pick(r, wraps), line)
	}
	if r.IntN(4) == 0 {
		line += pick(r, joiners)
	}
	if r.IntN(8) == 0 { // break it somewhere
		i := r.IntN(len(line))
		line = line[:i] + pick(r, []string{"'", "\"", "\\", "$", "`", "(", ")", "\r", "\x00", "\xff", "é", "#", "~", "*"}) + line[i:]
	}
	return line
}

func TestWhatIsCalledReadOnlyNeverWrites(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	runs := 60
	if testing.Short() {
		runs = 15
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	made, ran := 0, 0
	for end := time.Now().Add(40 * time.Second); ran < runs && time.Now().Before(end); made++ {
		line := randomLine(r)
		if y.reads(line) {
			ran++
			y.check(line)
		}
	}
	t.Logf("%d lines made, %d of them called read-only and run", made, ran)
	// Lines that the table considers read-only are known to be harmless.
	free := func(s proc.Spec) (proc.Spec, error) { return s, nil }
	table, err := os.ReadFile(filepath.Join("testdata", "lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(table)) {
		if line, ok := strings.CutPrefix(strings.TrimSuffix(row, "\n"), "runs\t"); ok && !testing.Short() && y.reads(line) {
			y.run(line, free)
		}
	}
}

func FuzzReadOnlyNeverWrites(f *testing.F) {
	for _, s := range []string{"ls", "cat a.go | sort -o b", "git log --output=x", "find . -delete", "echo a > b", "ls $(touch x)"} {
		f.Add(s)
	}
	y := newYard(f)
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) < 200 && y.reads(line) {
			y.t = t
			y.check(line)
		}
	})
}

func FuzzAnalysisNeverPanics(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 50 {
		f.Add(randomLine(r), "git push *")
	}
	for _, s := range []string{"((((", "$((", "${x[", "<<E", "case", "a[$(", "{,}", "\\", "~", "!", "&&", "time", "for", "[["} {
		f.Add(s, s)
		f.Add(strings.Repeat(s, 200), s+"*")
	}
	root, home := workspace(f)
	f.Fuzz(func(t *testing.T, line, pattern string) {
		var rules permission.RuleSet
		if r, err := permission.ParseRule("exec(" + pattern + ")"); err == nil {
			rules.Deny = []permission.Rule{r}
			if again, err := permission.ParseRule(r.String()); err != nil || again.String() != r.String() {
				t.Errorf("%q is read back as %q, %v", r, again, err)
			}
		}
		g := newGate(t, root, home, rules)
		for _, mode := range tools.Modes() {
			if e := g.Explain(context.Background(), caller(mode, nil), line); e.Outcome == "" {
				t.Error("no outcome")
			}
		}
		// A grant covers what it was made for.
		p := says(tools.AnswerProject)
		plain := newGate(t, root, home, permission.RuleSet{})
		if d := plain.Check(context.Background(), execRequest(line, caller(tools.ModeAsk, p))); !d.Allow || len(p.asked) == 0 || len(p.asked[0].Options) < 4 {
			return
		}
		if d := plain.Check(context.Background(), execRequest(line, caller(tools.ModeAsk, nil))); !d.Allow {
			t.Errorf("%q does not fit its own grant %q", line, p.asked[0].Options[1].Rules)
		}
	})
}

func TestDeepNestingIsNoTrouble(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	for _, s := range []string{"(", "$(", "`", "{ ", "if ", "while ", "! ", "[[ ( ", "$((", "${x:-", "case x in x) ", "\"$(", "<(", "a=(", "for x in $(", "time ", "eval '"} {
		for _, n := range []int{100, 20_000 / len(s)} {
			line := strings.Repeat(s, n)
			if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), line); e.Outcome != "asks" {
				t.Errorf("%d × %q: %s", n, s, e.Outcome)
			}
		}
	}
}
