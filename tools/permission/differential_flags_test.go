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

// vouchedPrograms are those of the table that take arguments of interest.
func vouchedPrograms() []string {
	return strings.Fields("cat head tail wc nl tac rev cut paste fold fmt expand column comm join od hexdump realpath readlink stat df base32 base64 zcat bzcat xzcat cmp pr tsort strings jq sha256sum md5sum file uniq sort diff tree grep egrep rg find sed ls du test which whereis users uptime date hostname git")
}

var flagInHelp = regexp.MustCompile(`(^|[\s,\[|])(--?[A-Za-z0-9][A-Za-z0-9-]*)`)

// flagsFromHelp reads the flags that a program says it has.
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
		text, _ := exec.CommandContext(ctx, program, a...).CombinedOutput() // help may exit as it likes
		for _, m := range flagInHelp.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(out, m[2]) {
				out = append(out, m[2])
			}
		}
	}
	return out
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// flagsOf returns all flags that a program may have: every letter, and the long ones that
// its help names, or git tells completion of.
func (a *arena) flagsOf(program string) (short, long []string) {
	for i := range letters {
		short = append(short, "-"+letters[i:i+1])
	}
	name, rest, _ := strings.Cut(program, " ")
	if long, ok := a.flags[program+" --"]; ok {
		return short, long
	}
	known := a.flags[name]
	if name == "git" {
		known = append(slices.Clone(known), strings.Fields("--max-count --skip --since --after --until --before --author --committer --grep-reflog --grep --all-match --invert-grep --glob --exclude --branches --tags "+
			"--remotes --stdin --merge --date --format --pretty --encoding --notes --show-notes --filter --missing --min-parents --max-parents --no-walk --walk-reflogs --ancestry-path --contents --no-index")...)
		sub, _, _ := strings.Cut(rest, " ")
		text, _ := exec.Command("git", sub, "--git-completion-helper-all").Output() // what it does not know, it does not tell
		for _, f := range strings.Fields(string(text)) {
			known = append(known, strings.TrimSuffix(f, "="))
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

// spellings makes the lines in which one flag of a program may take what lies outside for its
// value, leave it to be a file, or make a file of what stood before it.
func spellings(program, flag, outside string) (out []string) {
	for _, form := range []string{
		"F", "F HEAD~1", "F OUT", "F OUT a.go", "F a.go OUT", "F x OUT a.go", "OUT F", "OUT F a.go", "OUT a.go F", "a.go F OUT", "a.go x F OUT", "-- F OUT", "a.go F new", "F new",
		"F=1", "OUT F=a.go", "OUT F=x a.go", "F=x OUT", "F=new a.go", "a.go F=OUT",
		"F1", "OUT Fa.go", "OUT F1 a.go", "F1 OUT", "F1 OUT a.go", "a.go FOUT",
	} {
		if long := strings.HasPrefix(flag, "--"); long && !strings.Contains(form, "F=") && strings.Contains(form+" ", "F ") || long == strings.Contains(form, "F=") {
			out = append(out, program+" "+strings.NewReplacer("OUT", outside, "F", flag).Replace(form))
		}
	}
	return out
}

// pairs makes the lines in which one flag may take another for its value, or stand before it
// in one word.
func pairs(program, one, other, outside string) (out []string) {
	out = append(out, program+" "+one+" "+other+" "+outside, program+" "+one+" "+other+" "+outside+" a.go")
	if len(one) == 2 && len(other) == 2 {
		out = append(out, program+" "+one+other[1:]+" "+outside, program+" "+outside+" "+one+other[1:]+" a.go", program+" a.go "+one+other[1:]+outside)
	}
	return out
}

// spelled makes one line of a program with one or two of its flags.
func (a *arena) spelled(r *rand.Rand) string {
	program := pick(r, vouchedPrograms())
	if program == "git" {
		program += " " + pick(r, strings.Fields("log diff show status blame grep ls-files for-each-ref branch tag shortlog rev-list cat-file diff-tree range-diff"))
	}
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

// everySpelling makes all lines of a program with one of its flags, and with two of them.
func (a *arena) everySpelling(program string) (out []string) {
	outside := a.outside + "/secret"
	short, long := a.flagsOf(program)
	for _, f := range slices.Concat(short, long) {
		out = append(out, spellings(program, f, outside)...)
		for n := 3; n < len(f); n++ {
			out = append(out, spellings(program, f[:n], outside)...)
		}
		for _, other := range slices.Concat(short, long) {
			out = append(out, pairs(program, f, other, outside)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestFlagsAreUnderstoodInEverySpelling lets all lines of a program with one or two of its
// flags run that the gate lets run unasked, watched: none opens what lies outside, or prints
// what a rule denies.
// JCODE_DIFFERENTIAL_FLAGS names the programs ("grep,git diff"); without it a few lines of
// some are looked at.
func TestFlagsAreUnderstoodInEverySpelling(t *testing.T) {
	if _, err := observe.Run(exec.Command("/bin/true"), time.Minute); err != nil {
		t.Skipf("programs can't be watched here: %v", err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	programs, most := []string{"grep", "head", "git diff"}, 10
	if s := os.Getenv("JCODE_DIFFERENTIAL_FLAGS"); s != "" {
		programs, most = strings.Split(s, ","), 1<<30
	}
	a := newArena(t)
	a.layPlain()
	env := func() []string {
		return proc.CommandEnv([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C"}, proc.EnvRules{})
	}
	told := func(o *permission.Options) { o.Env = env }
	ruled, free := newGate(t, a.root, a.home, parseRules(t, nil, nil, []string{"read(.env)"}), told), newGate(t, a.root, a.home, permission.RuleSet{}, told)
	for _, program := range programs {
		if name, _, _ := strings.Cut(program, " "); !found(name) {
			continue
		}
		began, made, ran := time.Now(), 0, 0
		lines := a.everySpelling(program)
		if most < len(lines) {
			r := rand.New(rand.NewPCG(1, 0))
			r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		}
		for _, line := range lines {
			if ran >= most {
				break
			}
			made++
			for _, gate := range []*permission.Gate{ruled, free} {
				if d := gate.Check(context.Background(), execRequest(line, caller(tools.ModeAsk, nil))); d.Allow && d.Vouched != nil {
					ran++
					a.watch(line, env(), *d.Vouched, gate == ruled)
					break
				}
			}
		}
		t.Logf("%s: %d lines made, %d of them run unasked and watched, %v", program, made, ran, time.Since(began).Round(time.Second))
		if ran == 0 {
			t.Errorf("no line of %s was vouched for: this shows nothing", program)
		}
	}
}

func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
