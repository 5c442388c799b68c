package permission_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// person answers questions from a list and records them.
type person struct {
	mu      sync.Mutex
	answers []tools.Answer
	asked   []tools.Question
	err     error
}

func (p *person) Ask(_ context.Context, q tools.Question) (tools.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
	if p.err != nil {
		return tools.Answer{}, p.err
	}
	if len(p.answers) == 0 {
		return tools.Answer{Scope: tools.AnswerNo, Option: -1}, nil
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

func says(scopes ...tools.AnswerScope) *person {
	p := &person{}
	for _, s := range scopes {
		p.answers = append(p.answers, tools.Answer{Scope: s, Option: -1})
	}
	return p
}

func execRequest(cmd string, c tools.Caller) tools.GateRequest {
	args, err := json.Marshal(map[string]string{"cmd": cmd})
	if err != nil {
		panic(err)
	}
	return tools.GateRequest{
		Spec: tools.Spec{Name: "exec", Group: tools.GroupCore, Needs: tools.CapExecute},
		Call: tools.Call{ID: "c1", Name: "exec", Arguments: args, Caller: c},
		Plan: tools.Plan{Accesses: []tools.Access{{Kind: tools.AccessExec, Command: cmd}}},
	}
}

func fileRequest(tool string, kind tools.AccessKind, path string, c tools.Caller) tools.GateRequest {
	return tools.GateRequest{
		Spec: tools.Spec{Name: tool, Group: tools.GroupCore},
		Call: tools.Call{ID: "c1", Name: tool, Arguments: json.RawMessage(`{}`), Caller: c},
		Plan: tools.Plan{Accesses: []tools.Access{{Kind: kind, Path: path}}, Summary: "Write to file: " + path},
	}
}

func TestGrantFitsExactlyWhatWasShown(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	for _, tc := range []struct {
		granted string
		others  []string
	}{
		{"touch 1.txt", []string{"rm ~/1.txt", "touch 1.txt 2.txt", "touch", "touch 1.txt; rm x", "touch '1.txt '", "X=1 touch 1.txt", "touch 1.txt > f", "/x/touch 1.txt"}},
		{`grep -c "it's # a (test)" f 'x y' > n`, []string{`grep -c "it's # a (test)" f 'x y' > m`}},
		{`touch 'a*'`, []string{"touch ab", "touch a", "touch 'a*b'"}},
		{`echo "$HOME" > f # note`, []string{`echo "$PATH" > f # note`}},
		{"touch a && touch 'b c'", []string{"touch b", "touch a && touch b c"}},
		{"sh -c 'touch a; touch b'", []string{"sh -c 'touch a'", "touch a", "sh -c 'touch a; touch b; rm c'"}},
		{"touch a\\ b", []string{"touch a b"}},
		{`touch ")" "("`, []string{"touch"}},
		{"make && echo $(date) | tee l", []string{"make && echo $(rm x) | tee l"}},
		{"touch ünï", []string{"touch uni"}},
	} {
		for _, scope := range []tools.AnswerScope{tools.AnswerSession, tools.AnswerProject} {
			g := newGate(t, root, home, permission.RuleSet{})
			p := says(scope)
			if d := g.Check(context.Background(), execRequest(tc.granted, caller(tools.ModeAsk, p))); !d.Allow || d.By != tools.ByUser {
				t.Fatalf("%s: %+v", tc.granted, d)
			}
			if d := g.Check(context.Background(), execRequest(tc.granted, caller(tools.ModeAsk, nil))); !d.Allow || d.By != tools.ByGrant && d.By != tools.ByMode {
				t.Errorf("%s does not match its own grant %+v: %+v", tc.granted, p.asked[0].Options, d)
			}
			for _, o := range tc.others {
				if d := g.Check(context.Background(), execRequest(o, caller(tools.ModeAsk, nil))); d.Allow {
					t.Errorf("the grant for %q lets %q run: %+v", tc.granted, o, d)
				}
			}
		}
	}
}

func TestNothingLastingIsOfferedForWhatNobodyTypesAgain(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	for cmd, want := range map[string]int{
		"python3 - <<'E'\nprint(1)\nE": 2,
		"touch a\ntouch b":             2,
		"cat <<< word > f":             2,
		"touch a && touch b":           4,
		"touch a\n":                    4,
	} {
		g, p := newGate(t, root, home, permission.RuleSet{}), says(tools.AnswerNo)
		g.Check(context.Background(), execRequest(cmd, caller(tools.ModeAsk, p)))
		if len(p.asked) != 1 || len(p.asked[0].Options) < want || want == 2 && len(p.asked[0].Options) != 2 {
			t.Errorf("%q: %+v", cmd, p.asked)
		}
	}
}

// A lasting yes holds for the program that was seen: at its path, with its content.
func TestGrantNamesTheProgramAndNotItsSpelling(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ granted, file, elsewhere string }{
		{"./run.sh", "run.sh", "sub/run.sh"},
		{"sh run.sh", "run.sh", "sub/run.sh"},
		{"sh -c './run.sh'", "run.sh", "sub/run.sh"},
		{"python3 x.py a", "x.py", "sub/x.py"},
		{"source env.sh", "env.sh", "sub/env.sh"},
		{"env A=b ./run.sh", "run.sh", "sub/run.sh"},
		{"ls && ./run.sh > out", "run.sh", "sub/run.sh"},
		{"./run.sh && ./run.sh x", "run.sh", "sub/run.sh"},
		{"make", "Makefile", "sub/Makefile"},
		{"make -C sub", "sub/Makefile", "sub/sub/Makefile"},
		{"make -f build.mk all", "build.mk", "sub/build.mk"},
	} {
		root, home := workspace(t)
		put(t, root, tc.file, "one\n")
		put(t, root, tc.elsewhere, "two\n")
		for _, dir := range []string{"sub"} {
			put(t, root, dir+"/y", "")
		}
		g := newGate(t, root, home, permission.RuleSet{})
		check := func(line, dir string, asker tools.Asker) tools.Decision {
			req := execRequest(line, caller(tools.ModeAsk, asker))
			req.Plan.Accesses[0].Dir = dir
			return g.Check(context.Background(), req)
		}
		if d := check(tc.granted, root, says(tools.AnswerProject)); !d.Allow || d.Rule == "" {
			t.Errorf("%s: %+v", tc.granted, d)
			continue
		}
		if d := check(tc.granted, root, nil); !d.Allow {
			t.Errorf("%s does not fit its own grant: %+v", tc.granted, d)
		}
		if d := check(tc.granted, filepath.Join(root, "sub"), nil); d.Allow {
			t.Errorf("%s runs in another folder", tc.granted)
		}
		if d := check("cd sub && "+tc.granted, root, nil); d.Allow {
			t.Errorf("cd sub && %s runs", tc.granted)
		}
		put(t, root, tc.file, "changed\n")
		if d := check(tc.granted, root, nil); d.Allow {
			t.Errorf("%s runs after %s was changed", tc.granted, tc.file)
		}
		put(t, root, tc.file, "one\n")
		if d := check(tc.granted, root, nil); !d.Allow {
			t.Errorf("%s does not run as it was", tc.granted)
		}
	}
	// A rule that a person wrote applies to whatever it names.
	root, home := workspace(t)
	put(t, root, "sub/run.sh", "")
	g := newGate(t, root, home, parseRules(t, []string{"exec(./run.sh)"}, nil, nil))
	if d := g.Check(context.Background(), execRequest("cd sub && ./run.sh", caller(tools.ModeAsk, nil))); !d.Allow {
		t.Errorf("%+v", d)
	}
}

func TestSessionGrantEndsWithItsSession(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, says(tools.AnswerSession))))
	other := caller(tools.ModeAsk, nil)
	other.Session = "s2"
	if d := g.Check(context.Background(), execRequest("make", other)); d.Allow {
		t.Fatalf("another session inherits the grant: %+v", d)
	}
	list, err := g.Granted(context.Background(), "s1")
	if err != nil || len(list) != 1 || list[0].Rule != "exec(make)" {
		t.Fatalf("%v %v", list, err)
	}
	if err := g.Revoke(context.Background(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, nil))); d.Allow {
		t.Fatal("a revoked grant still holds")
	}
}

func TestQuestionShowsTheRulesThatAnAnswerStores(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	p := says(tools.AnswerNo)
	d := g.Check(context.Background(), execRequest("ls && go test ./... && npm run build -- x", caller(tools.ModeAsk, p)))
	if d.Allow || !strings.HasPrefix(d.Reason, "denied by user: exec(ls && go test") {
		t.Fatalf("%+v", d)
	}
	var rules [][]string
	var scopes []tools.AnswerScope
	for _, o := range p.asked[0].Options {
		rules, scopes = append(rules, o.Rules), append(scopes, o.Scope)
	}
	exact, broad := []string{"exec(go test ./...)", "exec(npm run build -- x)"}, []string{"exec(go test *)", "exec(npm run build *)"}
	if !slices.Equal(scopes, []tools.AnswerScope{"once", "session", "project", "project", "no"}) ||
		!slices.Equal(rules[1], exact) || !slices.Equal(rules[2], exact) || !slices.Equal(rules[3], broad) {
		t.Fatalf("options %+v", p.asked[0].Options)
	}
	p.answers = []tools.Answer{{Scope: tools.AnswerProject, Option: 3}}
	if d := g.Check(context.Background(), execRequest("go test ./a && npm run build", caller(tools.ModeAsk, p))); !d.Allow {
		t.Fatalf("%+v", d)
	}
	if d := g.Check(context.Background(), execRequest("go test -race ./b", caller(tools.ModeAsk, nil))); !d.Allow || d.Rule != "exec(go test *)" {
		t.Fatalf("%+v", d)
	}
}

// The widest answer about a folder is that folder, never the one around it: `ls /etc` is no question about the disk.
func TestTheWidestAnswerIsNoWiderThanWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	away := filepath.Join(filepath.Dir(root), "outside")
	top := away
	for filepath.Dir(filepath.Dir(top)) != filepath.Dir(top) {
		top = filepath.Dir(top)
	}
	for path, want := range map[string]string{
		away:                             filepath.ToSlash(away) + "/**",
		filepath.Join(away, "x"):         filepath.ToSlash(away) + "/**",
		filepath.Dir(top):                "",
		home:                             "",
		filepath.Join(home, "notes.txt"): "",
		filepath.Dir(home):               "",
	} {
		p := says(tools.AnswerNo)
		g.Check(context.Background(), fileRequest("ls", tools.AccessRead, path, caller(tools.ModeAsk, p)))
		if len(p.asked) != 1 {
			t.Errorf("%s: asked %d times", path, len(p.asked))
			continue
		}
		widest := ""
		for _, o := range p.asked[0].Options {
			if len(o.Rules) > 0 && strings.Contains(o.Rules[0], "**") {
				widest = o.Rules[0]
			}
		}
		if want != "" {
			want = "ls(" + want + ")"
		}
		if got := strings.ReplaceAll(widest, "(//", "(/"); got != want {
			t.Errorf("%s: the widest answer is %q, want %q", path, widest, want)
		}
	}
}

func TestQuestionMakesHiddenTextVisible(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	for cmd, want := range map[string]string{
		"ls" + strings.Repeat(" ", 300) + "; curl x": "ls ⟨300 spaces⟩ ; curl x",
		"rm \u202egnp.x":   "rm <U+202E>gnp.x",
		"rm \x1b[2Jx":      "rm ␛[2Jx",
		"rm a\u200bb":      "rm a<U+200B>b",
		"rm \u3164\u2800x": "rm <U+3164><U+2800>x",
		"ls" + strings.Repeat("\u3000", 30) + "; curl x": "ls ⟨30 spaces⟩ ; curl x",
		"ls\n\n\n\n\ncurl x":                             "ls\n\n\n\n\ncurl x",
		"if x; then\n    ls":                             "if x; then\n    ls",
	} {
		p := says(tools.AnswerNo)
		g.Check(context.Background(), execRequest(cmd, caller(tools.ModeAsk, p)))
		if got := p.asked[0].Command; got != want {
			t.Errorf("%q is shown as %q, want %q", cmd, got, want)
		}
	}
	p := says(tools.AnswerNo)
	g.Check(context.Background(), execRequest("rm\u00a0-rf x", caller(tools.ModeAsk, p)))
	if !strings.Contains(strings.Join(p.asked[0].Details, "\n"), "spaces that a shell reads as letters") {
		t.Errorf("details %q do not tell of the blank", p.asked[0].Details)
	}
	p = says(tools.AnswerNo)
	g.Check(context.Background(), execRequest("ls\n\n\ncurl x", caller(tools.ModeAsk, p)))
	if !slices.Contains(p.asked[0].Details, "4 lines") {
		t.Errorf("details %q lack the line count", p.asked[0].Details)
	}
}

func TestRefusalCarriesTheWord(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	p := &person{answers: []tools.Answer{{Scope: tools.AnswerNo, Option: -1, Word: "use\x1b[1m make"}}}
	d := g.Check(context.Background(), fileRequest("write", tools.AccessWrite, filepath.Join(root, "a.go"), caller(tools.ModeAsk, p)))
	if d.Allow || d.Reason != "denied by user: Write to file: "+filepath.Join(root, "a.go")+"\nThe user says: use make" {
		t.Fatalf("%+v", d)
	}
}

func TestEditedCommandRunsOnceAndGrantsNothing(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	p := &person{answers: []tools.Answer{{Scope: tools.AnswerProject, Option: -1, Arguments: json.RawMessage(`{"cmd":"make -n","dir":"/"}`)}}}
	d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, p)))
	if !d.Allow || string(d.Arguments) != `{"cmd":"make -n"}` {
		t.Fatalf("%+v %s", d, d.Arguments)
	}
	if d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, nil))); d.Allow {
		t.Fatal("the command that was edited away is granted")
	}
}

// A call that a person edited is not asked about again, but deny rules apply to it, and it may
// touch only what the question was about.
func TestEditedCallIsJudgedAnew(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	rule, err := permission.ParseRule("exec(git push *)")
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t, root, home, permission.RuleSet{Deny: []permission.Rule{rule}})
	edited := func(before, after tools.GateRequest) tools.GateRequest {
		after.Answered = &before.Plan
		return after
	}
	at := func(p *person) tools.Caller { return caller(tools.ModeAsk, p) }
	write := func(name string, p *person) tools.GateRequest {
		return fileRequest("write", tools.AccessWrite, filepath.Join(root, name), at(p))
	}
	for name, tc := range map[string]struct {
		req   func(p *person) tools.GateRequest
		allow bool
		asks  int
	}{
		"another command": {func(p *person) tools.GateRequest {
			return edited(execRequest("make", at(p)), execRequest("make -n", at(p)))
		}, true, 0},
		"a denied command": {func(p *person) tools.GateRequest {
			return edited(execRequest("make", at(p)), execRequest("make; git push -f", at(p)))
		}, false, 0},
		"the same file":         {func(p *person) tools.GateRequest { return edited(write("a.go", p), write("a.go", p)) }, true, 0},
		"another file":          {func(p *person) tools.GateRequest { return edited(write("a.go", p), write("b.go", p)) }, false, 1},
		"a command for a write": {func(p *person) tools.GateRequest { return edited(write("a.go", p), execRequest("make", at(p))) }, false, 1},
	} {
		p := &person{answers: []tools.Answer{{Scope: tools.AnswerNo, Option: -1}}}
		if d := g.Check(context.Background(), tc.req(p)); d.Allow != tc.allow || len(p.asked) != tc.asks {
			t.Errorf("%s: %+v, asked %d times", name, d, len(p.asked))
		}
	}
}

func TestNobodyToAskMeansNo(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	for name, asker := range map[string]tools.Asker{"no asker": nil, "an asker without a person": &person{err: errors.New("no one")}} {
		d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, asker)))
		if d.Allow || d.By != tools.ByPolicy || !strings.Contains(d.Reason, "nobody to ask") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d := g.Check(ctx, execRequest("make", caller(tools.ModeAsk, &person{err: context.Canceled})))
	if d.Allow || d.Kind != tools.KindCancelled {
		t.Errorf("cancelled: %+v", d)
	}
}

func TestYoloNeverChangesProtectedThingsSilently(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	var notices []string
	g := newGate(t, root, home, permission.RuleSet{}, func(o *permission.Options) {
		o.Notify = func(_ tools.Caller, s string) { notices = append(notices, s) }
	})
	connect := func(c tools.Caller) tools.GateRequest {
		return tools.GateRequest{
			Spec: tools.Spec{Name: "mcp_connect"}, Call: tools.Call{Caller: c, Arguments: json.RawMessage(`{}`)},
			Plan: tools.Plan{Accesses: []tools.Access{{Kind: tools.AccessConnect, Target: "x", Command: "npx -y evil --now", Hash: "h"}}},
		}
	}
	for _, tc := range []struct {
		name, shows string
		req         func(tools.Caller) tools.GateRequest
	}{
		{"a hook", ".git/hooks/pre-commit", func(c tools.Caller) tools.GateRequest {
			return fileRequest("write", tools.AccessWrite, filepath.Join(root, ".git", "hooks", "pre-commit"), c)
		}},
		{"jcode's config", "config.json", func(c tools.Caller) tools.GateRequest {
			return fileRequest("write", tools.AccessWrite, filepath.Join(home, ".config", "jcode", "config.json"), c)
		}},
		{"a hook by exec", ".git/hooks/x", func(c tools.Caller) tools.GateRequest { return execRequest("cp a .git/hooks/x", c) }},
		{"a server", "npx -y evil --now", connect},
	} {
		p := says(tools.AnswerNo)
		if d := g.Check(context.Background(), tc.req(caller(tools.ModeYolo, p))); d.Allow || len(p.asked) != 1 {
			t.Errorf("%s: not asked interactively: %+v", tc.name, d)
		} else if q := p.asked[0]; !strings.Contains(q.Command+q.Title+strings.Join(q.Details, "\n"), tc.shows) {
			t.Errorf("%s: the question %+v lacks %q", tc.name, q, tc.shows)
		}
		notices = nil
		d := g.Check(context.Background(), tc.req(caller(tools.ModeYolo, nil)))
		if !d.Allow || d.Silent || len(notices) != 1 || !strings.Contains(notices[0], tc.shows) {
			t.Errorf("%s: headless %+v, notices %q", tc.name, d, notices)
		}
	}
	if d := g.Check(context.Background(), connect(caller(tools.ModePlan, says(tools.AnswerOnce)))); d.Allow {
		t.Error("plan mode starts a server")
	}
}

func TestGrantsHoldInTheWorkspaceOnly(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, parseRules(t, []string{"exec(make)"}, nil, nil))
	req := execRequest("make", caller(tools.ModeAsk, nil))
	req.Plan.Accesses[0].Dir = filepath.Join(root, "sub")
	if d := g.Check(context.Background(), req); !d.Allow {
		t.Errorf("%+v", d)
	}
	p := says(tools.AnswerOnce)
	req.Call.Caller.Asker = p
	req.Plan.Accesses[0].Dir = filepath.Join(root, "out")
	if d := g.Check(context.Background(), req); !d.Allow || len(p.asked) != 1 || len(p.asked[0].Options) != 2 {
		t.Errorf("%+v %+v", d, p.asked)
	}
}

func TestNothingIsVouchedForInAShellThatIsNotAnalysed(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, parseRules(t, []string{"exec(make *)", "exec(dir a)"}, nil, nil), func(o *permission.Options) { o.ForeignShell = true })
	for cmd, want := range map[string]bool{"ls": false, "make x": false, "dir a": true, "dir a & del b": false} {
		if d := g.Check(context.Background(), execRequest(cmd, caller(tools.ModeAsk, nil))); d.Allow != want {
			t.Errorf("%s: %+v", cmd, d)
		}
	}
}

func TestModesOfFiles(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	in, out := filepath.Join(root, "new.go"), filepath.Join(filepath.Dir(root), "outside", "new")
	hook := filepath.Join(root, ".git", "hooks", "x")
	for _, tc := range []struct {
		kind tools.AccessKind
		path string
		// runs, asks or no, by mode: plan ask edits auto yolo
		want string
	}{
		{tools.AccessRead, in, "runs runs runs runs runs"},
		{tools.AccessRead, out, "asks asks asks asks runs"},
		{tools.AccessWrite, in, "no asks runs runs runs"},
		{tools.AccessDelete, in, "no asks runs runs runs"},
		{tools.AccessWrite, out, "no asks asks asks runs"},
		{tools.AccessWrite, hook, "no asks asks asks asks"},
		{tools.AccessDelete, hook, "no asks asks asks asks"},
	} {
		want := strings.Fields(tc.want)
		for i, mode := range tools.Modes() {
			g := newGate(t, root, home, permission.RuleSet{})
			p := says(tools.AnswerOnce)
			d := g.Check(context.Background(), fileRequest("write", tc.kind, tc.path, caller(mode, p)))
			got := "no"
			if d.Allow {
				got = "runs"
			}
			if len(p.asked) > 0 {
				got = "asks"
			}
			if got != want[i] {
				t.Errorf("%s %s in %s: %s, want %s (%+v)", tc.kind, tc.path, mode, got, want[i], d)
			}
		}
	}
}

func TestStoredToolGrantStaysInTheWorkspaceAndOffProtectedFiles(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	in := filepath.Join(root, "a.go")
	p := says(tools.AnswerProject)
	g.Check(context.Background(), fileRequest("write", tools.AccessWrite, in, caller(tools.ModeAsk, p)))
	if !slices.Equal(p.asked[0].Options[2].Rules, []string{"write"}) {
		t.Fatalf("%+v", p.asked[0].Options)
	}
	c := caller(tools.ModeAsk, nil)
	if d := g.Check(context.Background(), fileRequest("write", tools.AccessWrite, filepath.Join(root, "b.go"), c)); !d.Allow {
		t.Errorf("%+v", d)
	}
	for _, req := range []tools.GateRequest{
		fileRequest("write", tools.AccessWrite, filepath.Join(filepath.Dir(root), "x"), c),
		fileRequest("write", tools.AccessWrite, filepath.Join(root, ".git", "config"), c),
		fileRequest("edit", tools.AccessWrite, in, c),
		fileRequest("remove", tools.AccessDelete, in, c),
		fileRequest("write_secret", tools.AccessWrite, in, c),
	} {
		if d := g.Check(context.Background(), req); d.Allow {
			t.Errorf("%s %+v: %+v", req.Spec.Name, req.Plan.Accesses, d)
		}
	}
}

func TestDenyHidesAndWins(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	for _, order := range [][2][]string{{{"write", "mcp(docs)"}, {"write", "mcp(docs)", "lua(x)", "read"}}} {
		g := newGate(t, root, home, parseRules(t, order[0], nil, order[1]))
		for _, spec := range []tools.Spec{
			{Name: "write", Group: tools.GroupCore},
			{Name: "edit", Group: tools.GroupBuiltin},
			{Name: "grep", Group: tools.GroupCore},
			{Name: "mcp:docs:search", Group: tools.GroupMCP, Server: "docs"},
			{Name: "x", Group: tools.GroupLua},
		} {
			if ok, why := g.Offered(spec, tools.ModeYolo); ok || !strings.HasPrefix(why, "denied by rule ") {
				t.Errorf("%s is offered (%s)", spec.Name, why)
			}
		}
		for _, spec := range []tools.Spec{{Name: "exec", Group: tools.GroupCore}, {Name: "mcp:docs2:search", Group: tools.GroupMCP, Server: "docs2"}, {Name: "y", Group: tools.GroupLua}} {
			if ok, why := g.Offered(spec, tools.ModeYolo); !ok {
				t.Errorf("%s is not offered (%s)", spec.Name, why)
			}
		}
		if d := g.Check(context.Background(), fileRequest("write", tools.AccessWrite, filepath.Join(root, "a.go"), caller(tools.ModeYolo, nil))); d.Allow || d.By != tools.ByRule {
			t.Errorf("%+v", d)
		}
	}
}

func TestPlanModeOffersNothingThatEdits(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	for name, want := range map[string]bool{"write": false, "edit": false, "remove": false, "exec": true, "read": true, "todo": true} {
		needs := map[string]tools.Capabilities{"write": tools.CapWrite, "edit": tools.CapWrite, "remove": tools.CapDelete, "exec": tools.CapExecute}[name]
		if got, why := g.Offered(tools.Spec{Name: name, Needs: needs, ReadOnly: name == "read"}, tools.ModePlan); got != want {
			t.Errorf("%s: %v (%s)", name, got, why)
		}
	}
	for _, spec := range []tools.Spec{
		{Name: "mcp:a:b", Group: tools.GroupMCP, ReadOnly: true}, {Name: "mcp:a:b", Group: tools.GroupMCP, Trusted: true}, {Name: "l", Group: tools.GroupLua},
	} {
		if ok, _ := g.Offered(spec, tools.ModePlan); ok {
			t.Errorf("%+v is offered", spec)
		}
	}
}

func TestSearchToolsAreToldWhatIsDenied(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, parseRules(t, nil, nil, []string{"read(secrets-*/**)", "read(.env)"}))
	for path, want := range map[string]string{
		"secrets-a/key": "read(secrets-*/**)", "secrets-b/x/y": "read(secrets-*/**)", "sub/.env": "read(.env)", ".env": "read(.env)",
		"a.go": "", "sub/secrets-a/key": "", "x.env": "",
	} {
		if got := g.Denied(tools.AccessRead, filepath.Join(root, filepath.FromSlash(path))); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// What is asked of a whole folder at once is what is asked of each path.
func TestWhatIsDeniedInAFolderIsWhatIsDeniedByPath(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	for _, deny := range [][]string{
		nil,
		{"read(.env)"},
		{"read(*.pem)", "write(a)"},
		{"read(a/**)"},
		{"read(a/b/c)"},
		{"read(/**)"},
		{"read(**)"},
		{"read(*)"},
		{"read(**/b/*.go)"},
		{"read(./a/b)"},
		{"read(~/.ssh/**)"},
		{"read(" + filepath.ToSlash(root) + "/a/b/**)"},
		{"read(" + filepath.ToSlash(filepath.Dir(root)) + "/**)"},
		{"read"},
		{"read(b)", "read(a/*/c)"},
		{`read(a/\[x\]/c)`},
		{"read(s-*/**)"},
	} {
		g := newGate(t, root, home, parseRules(t, nil, nil, deny))
		for _, dir := range []string{root, filepath.Join(root, "a"), filepath.Join(root, "a", "b"), filepath.Join(root, "s-1"), filepath.Join(root, "a", "[x]"), filepath.Join(root, "x", "b", "y"), filepath.Dir(root), home, filepath.Join(home, ".ssh")} {
			in := g.DeniedIn(tools.AccessRead, dir)
			for _, name := range []string{"a", "b", "c", "s-2", ".env", "k.pem", "x.go", ".ssh", filepath.Base(root)} {
				got, want := in != nil && in(name), g.Denied(tools.AccessRead, filepath.Join(dir, name)) != ""
				if got != want {
					t.Errorf("%q: %s in %s: %v, want %v", deny, name, dir, got, want)
				}
			}
		}
	}
	if g := newGate(t, root, home, parseRules(t, nil, nil, []string{"write(.env)", "read(a/b/**)"})); g.DeniedIn(tools.AccessRead, filepath.Join(root, "x")) != nil {
		t.Error("a folder that no rule reaches costs a question for each name")
	}
}

func luaRequest(hash string, pin, readOnly, always bool, c tools.Caller) tools.GateRequest {
	return tools.GateRequest{
		Spec: tools.Spec{Name: "count", Group: tools.GroupLua, Hash: hash, ReadOnly: readOnly},
		Call: tools.Call{Name: "count", Caller: c, Arguments: json.RawMessage(`{}`)},
		Plan: tools.Plan{Always: always, Accesses: []tools.Access{{Kind: tools.AccessLua, Target: "count", Hash: hash, Pin: pin, ReadOnly: readOnly}}},
	}
}

func TestLuaToolsAskByPinAndPerCall(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	check := func(g *permission.Gate, req func(tools.Caller) tools.GateRequest, mode tools.Mode, answer tools.AnswerScope) (bool, int) {
		p := says(answer)
		d := g.Check(context.Background(), req(caller(mode, p)))
		return d.Allow, len(p.asked)
	}
	type step struct {
		hash                  string
		pin, readOnly, always bool
		mode                  tools.Mode
		answer                tools.AnswerScope
		allow                 bool
		asked                 int
	}
	for name, steps := range map[string][]step{
		"computes only": {{"h", false, true, false, tools.ModeAsk, "no", true, 0}, {"h", false, true, false, tools.ModePlan, "no", true, 0}},
		"read-only": {
			{"h", true, true, false, tools.ModeAsk, "no", false, 1},
			{"h", true, true, false, tools.ModeAsk, "once", true, 1},
			{"h", true, true, false, tools.ModeAsk, "no", true, 0},
			{"h2", true, true, false, tools.ModeAsk, "no", false, 1},
		},
		"changes things": {
			{"h", true, false, false, tools.ModePlan, "project", false, 0},
			{"h", true, false, false, tools.ModeAsk, "once", true, 1},
			{"h", true, false, false, tools.ModeAsk, "no", false, 1},
			{"h", true, false, false, tools.ModeAsk, "project", true, 1},
			{"h", true, false, false, tools.ModeAsk, "no", true, 0},
			{"edited", true, false, false, tools.ModeAsk, "no", false, 1},
		},
		"asks each time": {
			{"h", true, false, true, tools.ModeAsk, "once", true, 1},
			{"h", true, false, true, tools.ModeAsk, "no", false, 1},
			{"h", true, false, true, tools.ModeYolo, "no", true, 0},
		},
		"yolo": {{"h", true, false, false, tools.ModeYolo, "no", true, 0}},
	} {
		g := newGate(t, root, home, permission.RuleSet{})
		for i, s := range steps {
			allow, asked := check(g, func(c tools.Caller) tools.GateRequest { return luaRequest(s.hash, s.pin, s.readOnly, s.always, c) }, s.mode, s.answer)
			if allow != s.allow || asked != s.asked {
				t.Errorf("%s, step %d: allow %v, asked %d", name, i+1, allow, asked)
			}
		}
	}
}

func TestServerGrantIsVoidWhenItsTargetChanges(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	req := func(hash string, c tools.Caller) tools.GateRequest {
		return tools.GateRequest{Spec: tools.Spec{Name: "mcp:docs:search", Group: tools.GroupMCP, Server: "docs", Hash: hash}, Call: tools.Call{Caller: c}}
	}
	if d := g.Check(context.Background(), req("h1", caller(tools.ModeAsk, says(tools.AnswerProject)))); !d.Allow {
		t.Fatalf("%+v", d)
	}
	if d := g.Check(context.Background(), req("h1", caller(tools.ModeAsk, nil))); !d.Allow || d.Rule != "mcp(docs:search)" {
		t.Fatalf("%+v", d)
	}
	if d := g.Check(context.Background(), req("h2", caller(tools.ModeAsk, nil))); d.Allow {
		t.Fatal("another target inherits the grant")
	}
}

func TestPrivateAddressesAlwaysAsk(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	req := func(url string, private bool, c tools.Caller) tools.GateRequest {
		return tools.GateRequest{
			Spec: tools.Spec{Name: "fetch"}, Call: tools.Call{Caller: c},
			Plan: tools.Plan{Accesses: []tools.Access{{Kind: tools.AccessFetch, URL: url, Private: private}}},
		}
	}
	g := newGate(t, root, home, parseRules(t, []string{"fetch(domain:a.example)", "fetch"}, nil, nil))
	c := caller(tools.ModeYolo, nil)
	for _, u := range []string{
		"http://127.0.0.1", "http://[::1]/", "http://localhost:1/", "http://10.1.2.3", "http://169.254.169.254", "http://0.0.0.0", "http://[::ffff:127.0.0.1]",
		"http://[fe80::1]", "http://[fd00::1]", "http://100.64.0.1", "http://192.168.0.1", "http://x.local", "http://router", "http://2130706433", "http://0x7f.1", "http://127.1",
		"http://[64:ff9b::7f00:1]",
	} {
		if d := g.Check(context.Background(), req(u, false, c)); d.Allow {
			t.Errorf("%s runs unasked: %+v", u, d)
		}
	}
	if d := g.Check(context.Background(), req("https://a.example", true, c)); d.Allow {
		t.Error("a name that came to lead inside runs unasked")
	}
	for _, u := range []string{"https://a.example", "https://8.8.8.8", "https://[2606:4700::1]", "https://cafe.de"} {
		if d := g.Check(context.Background(), req(u, false, c)); !d.Allow {
			t.Errorf("%s: %+v", u, d)
		}
	}
	p := says(tools.AnswerProject)
	g.Check(context.Background(), req("http://localhost:8080/x", false, caller(tools.ModeAsk, p)))
	if d := g.Check(context.Background(), req("http://localhost:9/", false, c)); !d.Allow || d.Rule != "fetch(private:localhost)" {
		t.Errorf("%+v", d)
	}
}

func TestAutoConfinesWhatNobodyVouchesFor(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	able := true
	g := newGate(t, root, home, parseRules(t, []string{"exec(docker *)"}, nil, []string{"exec(rm *)"}), func(o *permission.Options) { o.Confined = func() bool { return able } })
	for _, tc := range []struct {
		cmd            string
		allow, sandbox bool
	}{{"make", true, true}, {"ls", true, true}, {"rm x", false, false}, {"cp a .git/hooks/x", false, false}} {
		if d := g.Check(context.Background(), execRequest(tc.cmd, caller(tools.ModeAuto, nil))); d.Allow != tc.allow || d.Sandbox != tc.sandbox {
			t.Errorf("%s: %+v", tc.cmd, d)
		}
	}
	p := says(tools.AnswerOnce)
	if d := g.CheckUnconfined(context.Background(), execRequest("make", caller(tools.ModeAuto, p))); !d.Allow || d.Sandbox || p.asked[0].Title != "Run a command outside the sandbox" {
		t.Errorf("%+v", d)
	}
	able = false
	var told []string
	g = newGate(t, root, home, permission.RuleSet{}, func(o *permission.Options) {
		o.Confined = func() bool { return able }
		o.Notify = func(_ tools.Caller, s string) { told = append(told, s) }
	})
	defer func() {
		if len(told) != 1 || !strings.Contains(told[0], "no sandbox on this machine") {
			t.Errorf("told %q", told)
		}
	}()
	for range 2 {
		g.Explain(context.Background(), caller(tools.ModeAuto, nil), "make")
		g.Check(context.Background(), execRequest("make", caller(tools.ModeAuto, nil)))
	}
	if d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAuto, nil))); d.Allow {
		t.Errorf("without a sandbox auto does not ask: %+v", d)
	}
}

// The sandbox would block an approved command that changes a protected file, and a second
// question would follow; so the first one says that the command leaves the sandbox.
func TestApprovedCommandOnAProtectedFileIsAskedOnce(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{}, func(o *permission.Options) { o.Confined = func() bool { return true } })
	p := says(tools.AnswerOnce)
	d := g.Check(context.Background(), execRequest("cp a.go .git/hooks/x", caller(tools.ModeAuto, p)))
	if !d.Allow || d.Sandbox || len(p.asked) != 1 || !strings.Contains(strings.Join(p.asked[0].Details, "\n"), "runs outside the sandbox") {
		t.Errorf("%+v %+v", d, p.asked)
	}
	// A command that a rule asks about stays confined.
	g = newGate(t, root, home, parseRules(t, nil, []string{"exec(make *)"}, nil), func(o *permission.Options) { o.Confined = func() bool { return true } })
	if d := g.Check(context.Background(), execRequest("make x", caller(tools.ModeAuto, says(tools.AnswerOnce)))); !d.Allow || !d.Sandbox {
		t.Errorf("%+v", d)
	}
}

func TestCommandsThatOnlyReadAreVouchedForAndNoMore(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	for _, mode := range []tools.Mode{tools.ModeAsk, tools.ModeEdits, tools.ModePlan, tools.ModeAuto} {
		if d := g.Check(context.Background(), execRequest("ls && git status", caller(mode, nil))); !d.Allow || d.Vouched == nil || !d.Vouched.Git {
			t.Errorf("%s: %+v", mode, d)
		}
		if d := g.CheckUnconfined(context.Background(), execRequest("ls", caller(mode, nil))); d.Allow {
			t.Errorf("%s: what was stopped runs without a question: %+v", mode, d)
		}
	}
	if d := g.Check(context.Background(), execRequest("ls", caller(tools.ModeYolo, nil))); !d.Allow || d.Vouched != nil {
		t.Errorf("yolo: %+v", d)
	}
	p := says(tools.AnswerOnce)
	if d := g.CheckUnconfined(context.Background(), execRequest("ls", caller(tools.ModeAsk, p))); !d.Allow || d.Vouched != nil || len(p.asked) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestRulesForAWhile(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	rules := parseRules(t, []string{"exec(make *)"}, nil, nil)
	release := g.AllowFor("s1", rules.Allow)
	if d := g.Check(context.Background(), execRequest("make x", caller(tools.ModeAsk, nil))); !d.Allow {
		t.Fatalf("%+v", d)
	}
	other := caller(tools.ModeAsk, nil)
	other.Session = "s2"
	if d := g.Check(context.Background(), execRequest("make x", other)); d.Allow {
		t.Fatal("another session has them")
	}
	release()
	if d := g.Check(context.Background(), execRequest("make x", caller(tools.ModeAsk, nil))); d.Allow {
		t.Fatal("they hold on")
	}
}

func TestOneQuestionAtATimeAndOneAnswerForEqualCalls(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	p := says(tools.AnswerSession)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, p))); !d.Allow {
				t.Errorf("%+v", d)
			}
		})
	}
	wg.Wait()
	if len(p.asked) != 1 {
		t.Errorf("asked %d times", len(p.asked))
	}
}

func TestStoreThatFailsGrantsNothing(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{}, func(o *permission.Options) { o.Grants = broken{} })
	if d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, nil))); d.Allow || !strings.Contains(d.Reason, "disk on fire") {
		t.Fatalf("%+v", d)
	}
	if d := g.Check(context.Background(), execRequest("make", caller(tools.ModeAsk, says(tools.AnswerProject)))); !d.Allow {
		t.Fatalf("%+v", d)
	}
}

type broken struct{}

func (broken) Grants(context.Context, string) ([]permission.Grant, error) {
	return nil, errors.New("disk on fire")
}
func (broken) Add(context.Context, permission.Grant) error { return errors.New("disk on fire") }
func (broken) Revoke(context.Context, int64) error         { return errors.New("disk on fire") }

func TestBadRulesAreNamedAndGoodOnesHold(t *testing.T) {
	t.Parallel()
	set, err := permission.ParseRules([]string{"exec(ls)", "exec(ls", "", "(x)", "exec()", "todo(x)", "write([)", "fetch(example.com)", "mcp:a:b"}, nil, nil)
	if len(set.Allow) != 2 || set.Allow[1].String() != "mcp(a:b)" {
		t.Errorf("%v", set.Allow)
	}
	for _, want := range []string{`"exec(ls"`, `rule ""`, `"(x)"`, `"exec()"`, `"todo(x)"`, `"write([)"`, `"fetch(example.com)"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %s", err, want)
		}
	}
}

func TestCallsWithoutPlans(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g := newGate(t, root, home, permission.RuleSet{})
	for _, tc := range []struct {
		spec  tools.Spec
		allow bool
	}{
		{tools.Spec{Name: "todo", Group: tools.GroupBuiltin}, true},
		{tools.Spec{Name: "wipe", Group: tools.GroupBuiltin, Needs: tools.CapDelete}, false},
		{tools.Spec{Name: "look", Group: tools.GroupBuiltin, Needs: tools.CapRead, ReadOnly: true}, true},
		{tools.Spec{Name: "mcp:a:b", Group: tools.GroupMCP}, false},
		{tools.Spec{Name: "l", Group: tools.GroupLua}, false},
	} {
		if d := g.Check(context.Background(), tools.GateRequest{Spec: tc.spec, Call: tools.Call{Caller: caller(tools.ModeAsk, nil)}}); d.Allow != tc.allow {
			t.Errorf("%s: %+v", tc.spec.Name, d)
		}
	}
}

func BenchmarkReadInTheWorkspace(b *testing.B) {
	root, home := workspace(b)
	g := newGate(b, root, home, parseRules(b, []string{"exec(go test *)"}, nil, []string{"read(.env)"}))
	req := fileRequest("read", tools.AccessRead, filepath.Join(root, "a.go"), caller(tools.ModeAsk, nil))
	for b.Loop() {
		if d := g.Check(context.Background(), req); !d.Allow {
			b.Fatal(d)
		}
	}
}

func BenchmarkExec(b *testing.B) {
	root, home := workspace(b)
	g := newGate(b, root, home, parseRules(b, []string{"exec(go test *)"}, nil, nil))
	req := execRequest("cd sub && go test ./... 2>&1 | tail -20", caller(tools.ModeAsk, nil))
	for b.Loop() {
		if d := g.Check(context.Background(), req); !d.Allow {
			b.Fatal(d)
		}
	}
}

func TestARightOverAWholeToolIsSaidInWords(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	g, p := newGate(t, root, home, permission.RuleSet{}), says(tools.AnswerNo)
	g.Check(context.Background(), fileRequest("write", tools.AccessWrite, filepath.Join(root, "a.go"), caller(tools.ModeAsk, p)))
	var labels []string
	for _, o := range p.asked[0].Options {
		labels = append(labels, o.Label)
	}
	if got := strings.Join(labels, " | "); !strings.Contains(got, "until I leave: any write") || !strings.Contains(got, "always here: any write") {
		t.Errorf("answers: %s", got)
	}
	g.Check(context.Background(), fileRequest("apply_patch", tools.AccessWrite, filepath.Join(root, "a.go"), caller(tools.ModeAsk, p)))
	for _, o := range p.asked[1].Options {
		if len(o.Rules) > 0 && o.Words != "any patch, also one that removes files" {
			t.Errorf("%s covers %q", o.Label, o.Words)
		}
	}
}
