//go:build linux

package permission_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/proc"
	"jcode/internal/testkit/observe"
	"jcode/tools"
	"jcode/tools/permission"
)

// vouchedPrograms returns the programs of the table whose arguments are worth testing.
func vouchedPrograms() []string {
	return strings.Fields("cat head tail wc nl tac rev cut paste fold fmt expand column comm join od hexdump realpath readlink stat df base32 base64 zcat bzcat xzcat cmp pr tsort strings jq sha256sum md5sum file uniq sort diff tree grep egrep rg find sed awk ls du test which whereis users uptime date hostname git")
}

var flagInHelp = regexp.MustCompile(`(^|[\s,\[|])(--?[A-Za-z0-9][A-Za-z0-9-]*)`)

// flagsFromHelp reads the flags that the help of a program lists.
func flagsFromHelp(program string) (out []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	args := [][]string{{"--help"}}
	if program == "git" {
		args = nil
		for _, sub := range []string{"log", "diff", "status", "blame", "grep", "show", "ls-files", "for-each-ref", "branch", "shortlog", "cat-file"} {
			args = append(args, []string{sub, "-h"})
		}
	}
	for _, a := range args {
		text, _ := exec.CommandContext(ctx, program, a...).CombinedOutput() // the exit code of help does not matter
		for _, m := range flagInHelp.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(out, m[2]) {
				out = append(out, m[2])
			}
		}
	}
	return out
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// flagsOf returns all flags that a program may have: every letter, and the long flags in its
// help or in git's completion.
func (a *arena) flagsOf(program string) (short, long []string) {
	for i := range letters {
		short = append(short, "-"+letters[i:i+1])
	}
	if long, ok := a.flags[program+" --"]; ok {
		return short, long
	}
	name, sub, _ := strings.Cut(program, " ")
	known := a.flags[name]
	if name == "git" {
		known = nil
		help, _ := exec.Command("git", sub, "-h").CombinedOutput()                 // it exits with 129
		all, _ := exec.Command("git", sub, "--git-completion-helper-all").Output() // unknown subcommands print nothing
		for _, m := range flagInHelp.FindAllStringSubmatch(string(help), -1) {
			known = append(known, m[2])
		}
		for _, f := range strings.Fields(string(all)) {
			known = append(known, strings.TrimSuffix(f, "="))
		}
		switch sub {
		case "log", "show", "shortlog", "rev-list", "whatchanged":
			known = append(known, strings.Fields("--max-count --skip --since --after --until --before --author --committer --grep-reflog --grep --all-match --invert-grep --glob --exclude --branches --tags "+
				"--remotes --stdin --merge --date --format --pretty --encoding --notes --show-notes --filter --missing --min-parents --max-parents --no-walk --walk-reflogs --ancestry-path --contents")...)
		case "diff":
			known = append(known, "--no-index", "--cached", "--merge-base")
		}
	}
	for _, f := range known {
		if len(f) > 2 && strings.HasPrefix(f, "--") && !slices.Contains(long, f) {
			long = append(long, f)
		}
	}
	a.flags[program+" --"] = long
	return short, long
}

// spellings returns the lines in which a flag of a program may take a file outside as its value,
// leave it as a file argument, or turn the word before it into a file argument.
func spellings(program, flag, outside string) (out []string) {
	for _, form := range []string{
		"F", "F HEAD~1", "F OUT", "F OUT a.go", "F a.go OUT", "F x OUT a.go", "OUT F", "OUT F a.go", "OUT a.go F", "a.go F OUT", "a.go x F OUT", "-- F OUT", "a.go F new", "F new",
		"F=1", "OUT F=a.go", "OUT F=x a.go", "F=x OUT", "F=new a.go", "a.go F=OUT",
		"F1", "OUT Fa.go", "OUT F1 a.go", "F1 OUT", "F1 OUT a.go", "a.go FOUT",
		"F ke*", "F [ak]*", "ke* F", "F ?words", "F=a.go:OUT", "Fa.go:OUT", "F sub", "F su* a.go",
	} {
		if long := strings.HasPrefix(flag, "--"); long && !strings.Contains(form, "F=") && strings.Contains(form+" ", "F ") || long == strings.Contains(form, "F=") {
			out = append(out, program+" "+strings.NewReplacer("OUT", outside, "F", flag).Replace(form))
		}
	}
	return out
}

// pairs returns the lines in which one flag may take another as its value, or precede it in the
// same word.
func pairs(program, one, other, outside string) (out []string) {
	out = append(out, program+" "+one+" "+other+" "+outside, program+" "+one+" "+other+" "+outside+" a.go")
	if len(one) == 2 && len(other) == 2 {
		out = append(out, program+" "+one+other[1:]+" "+outside, program+" "+outside+" "+one+other[1:]+" a.go", program+" a.go "+one+other[1:]+outside)
	}
	return out
}

// spelledPrograms are those whose flags are tried, with the subcommands of git.
func spelledPrograms() (out []string) {
	for _, p := range vouchedPrograms() {
		if p != "git" {
			out = append(out, p)
		}
	}
	// With the text that precedes the files.
	out = append(out, "sed -n 1p", "sed s/a/b/", "awk '{print $1}'", "awk -F:", "jq .", "grep x", "rg x")
	for _, sub := range strings.Fields("log diff show status blame grep ls-files for-each-ref branch tag shortlog rev-list cat-file diff-tree range-diff ls-tree rev-parse stash worktree reflog describe check-attr check-ignore") {
		out = append(out, "git "+sub)
	}
	return out
}

// spelled returns a line of a program with one or two of its flags.
func (a *arena) spelled(r *rand.Rand, program string) string {
	short, long := a.flagsOf(program)
	list := short
	if len(long) > 0 && r.IntN(2) == 0 {
		list = long
	}
	flag := pick(r, list)
	if r.IntN(3) == 0 {
		return pick(r, pairs(program, flag, pick(r, slices.Concat(short, long)), a.outside+"/secret"))
	}
	if len(flag) > 3 && r.IntN(3) == 0 {
		flag = flag[:3+r.IntN(len(flag)-3)] // an abbreviation
	}
	return pick(r, spellings(program, flag, a.outside+"/secret"))
}

// maxOthers bounds how many other flags each one is combined with: git has hundreds.
const maxOthers = 130

// everySpelling returns all lines of a program with one of its flags, and with two of them; if
// there are many of the latter, a sample.
func (a *arena) everySpelling(r *rand.Rand, program string) (out []string) {
	outside := a.outside + "/secret"
	short, long := a.flagsOf(program)
	all := slices.Concat(short, long)
	for _, f := range all {
		out = append(out, spellings(program, f, outside)...)
		for n := 3; n < len(f); n++ {
			out = append(out, spellings(program, f[:n], outside)...)
		}
		others := all
		if len(all) > maxOthers {
			others = nil
			for range maxOthers / 8 {
				others = append(others, pick(r, all))
			}
		}
		for _, other := range others {
			out = append(out, pairs(program, f, other, outside)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestFlagsAreUnderstoodInEverySpelling runs lines of a program with one or two of its flags that
// the gate allows unasked, and watches them: none opens a file outside, or prints what a rule
// denies.
//
// By default it checks a few lines of some programs. JCODE_DIFFERENTIAL_FLAGS names programs
// ("grep,git diff", or all) whose lines are tried whole, or, with JCODE_DIFFERENTIAL (a
// duration), at random for that long; JCODE_DIFFERENTIAL_SEED changes the input.
func TestFlagsAreUnderstoodInEverySpelling(t *testing.T) {
	if _, err := observe.Run(exec.Command("/bin/true"), time.Minute); err != nil {
		t.Skipf("programs can't be watched here: %v", err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	programs, most := []string{"grep", "head", "git diff"}, 10
	if s := os.Getenv("JCODE_DIFFERENTIAL_FLAGS"); s != "" {
		if programs, most = strings.Split(s, ","), 1<<30; s == "all" {
			programs = spelledPrograms()
		}
	}
	limit, seed := differentialLimits(t)
	programs = slices.DeleteFunc(programs, func(p string) bool {
		name, _, _ := strings.Cut(p, " ")
		return !found(name)
	})
	if len(programs) == 0 {
		t.Skip("none of the programs is on this machine")
	}
	w := newWatcher(t)
	r := rand.New(rand.NewPCG(seed, 0))
	if limit > 0 {
		began, made := time.Now(), 0
		for ; time.Since(began) < limit && !t.Failed(); made++ {
			w.try(w.spelled(r, programs[made%len(programs)]))
		}
		t.Logf("seed %d: %d programs, %d lines made, %d of them run unasked and watched, %v", seed, len(programs), made, w.ran, time.Since(began).Round(time.Second))
		if w.ran == 0 {
			t.Error("no line was vouched for: this shows nothing")
		}
		return
	}
	total := 0
	for _, program := range programs {
		began, made := time.Now(), 0
		w.ran = 0
		lines := w.everySpelling(r, program)
		if most < len(lines) {
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
		for ; made < len(lines) && w.ran < most; made++ {
			w.try(lines[made])
		}
		total += w.ran
		t.Logf("%s: %d lines made, %d of them run unasked and watched, %v", program, made, w.ran, time.Since(began).Round(time.Second))
	}
	if total == 0 { // some programs have no vouched flags
		t.Error("no line was vouched for: this shows nothing")
	}
}

// watcher runs lines that a gate allows unasked: with rules that deny files if the gate allows
// them under these, otherwise without.
type watcher struct {
	*arena
	env         func() []string
	ruled, free *permission.Gate
	ran         int
}

func newWatcher(t *testing.T) *watcher {
	w := &watcher{arena: newArena(t)}
	w.layPlain()
	w.env = func() []string {
		return proc.CommandEnv([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}, proc.EnvRules{})
	}
	told := func(o *permission.Options) { o.Programs.Base = w.env }
	w.ruled, w.free = newGate(t, w.root, w.home, parseRules(t, nil, nil, []string{"read(secrets/**)", "read(.env)"}), told), newGate(t, w.root, w.home, permission.RuleSet{}, told)
	return w
}

func (w *watcher) try(line string) {
	for _, gate := range []*permission.Gate{w.ruled, w.free} {
		if d := gate.Check(context.Background(), execRequest(line, caller(tools.ModeAsk, nil))); d.Allow && d.Vouched != nil {
			w.ran++
			w.watch(line, w.env(), *d.Vouched, gate == w.ruled)
			return
		}
	}
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
