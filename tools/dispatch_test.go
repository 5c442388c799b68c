package tools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"jcode/tools"
)

const editSchema = `{"type":"object","properties":{
	"path":{"type":"string"},"limit":{"type":"integer"},"all":{"type":"boolean"},
	"mode":{"type":"string","enum":["a","b"]},
	"edits":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}},
	"required":["path"]}`

// echo returns the arguments that reached it.
func echo(name string) fake {
	return fake{
		spec: tools.Spec{Name: name, ReadOnly: true, Parameters: json.RawMessage(editSchema), Aliases: map[string]string{"file_path": "path"}},
		run: func(_ context.Context, c tools.Call) (tools.Result, error) {
			return tools.Result{Text: string(c.Arguments)}, nil
		},
	}
}

func dispatcher(t *testing.T, list ...tools.Tool) *tools.Dispatcher {
	t.Helper()
	reg := tools.NewRegistry()
	for _, tool := range list {
		must(t, reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, tool))
	}
	return &tools.Dispatcher{Registry: reg}
}

func TestArgumentsAreRepairedBySchemaOrRefusedByName(t *testing.T) {
	d := dispatcher(t, echo("edit"))
	for _, tc := range []struct{ args, want, failure string }{
		{`{"path":"a"}`, `{"path":"a"}`, ""},
		{`{"file_path":"a"}`, `{"path":"a"}`, ""},
		{`{"path":"a","limit":"20"}`, `{"limit":20,"path":"a"}`, ""},
		{`{"path":"a","all":"true"}`, `{"all":true,"path":"a"}`, ""},
		{`{"path":7}`, `{"path":"7"}`, ""},
		{`{"path":"a","limit":null}`, `{"path":"a"}`, ""},
		{`{"path":"a","edits":"[{\"n\":\"1\"}]"}`, `{"edits":[{"n":1}],"path":"a"}`, ""},
		{`"{\"path\":\"a\"}"`, `{"path":"a"}`, ""},
		{`{"path":"a","extra":1}`, `{"path":"a","extra":1}`, ""},
		{`{"path":{"a":1}}`, "", "argument path must be string, not an object"},
		{`{"path":"a","limit":"many"}`, "", "argument limit must be integer"},
		{`{"path":"a","mode":"c"}`, "", `argument mode must be one of ["a","b"]`},
		{`{"path":"a","edits":[{}]}`, "", "do not fit the schema"},
		{``, "", "missing required argument: path"},
		{`null`, "", "missing required argument: path"},
		{`{"path": "a`, "", "cut off"},
		{`[1]`, "", "must be a JSON object, not an array"},
		{`{"path":"a"} {"path":"b"}`, "", "more than one JSON value"},
	} {
		out := d.Dispatch(t.Context(), tools.Call{Name: "edit", Arguments: json.RawMessage(tc.args)})
		if tc.failure != "" {
			if !out.Result.Failed || !strings.Contains(out.Result.Text, tc.failure) || out.Result.Kind != tools.KindInvalidArgs || out.Ran {
				t.Errorf("%s: got %q (ran %v), want failure %q", tc.args, out.Result.Text, out.Ran, tc.failure)
			}
			continue
		}
		if out.Result.Failed || out.Result.Text != tc.want {
			t.Errorf("%s: got %q, want %s", tc.args, out.Result.Text, tc.want)
		}
	}
}

func TestUnknownToolNamesNearOnes(t *testing.T) {
	d := dispatcher(t, named("read"), named("write"))
	for _, name := range []string{"raed", "re ad", strings.Repeat("x", 200), ""} {
		out := d.Dispatch(t.Context(), tools.Call{Name: name})
		if !out.Result.Failed || !strings.Contains(out.Result.Text, "unknown intent: ") || !strings.Contains(out.Result.Text, "read") {
			t.Errorf("%q: %s", name, out.Result.Text)
		}
		if len(out.Result.Text) > 400 {
			t.Errorf("%.10q: %d bytes", name, len(out.Result.Text))
		}
	}
	if out := d.Dispatch(t.Context(), tools.Call{Name: " Read "}); out.Result.Failed {
		t.Errorf("a name with blanks around was not forgiven: %s", out.Result.Text)
	}
}

func TestVanishedToolIsNotRunAndSaidToBeRemoved(t *testing.T) {
	d := dispatcher(t, named("read"))
	must(t, d.Registry.Register("mcp:x", tools.RankMCP, mcpTool("x", "t")))
	snap := d.Registry.Snapshot(nil)
	d.Registry.UnregisterOwner("mcp:x")
	out := d.DispatchIn(t.Context(), snap, tools.Call{Name: "mcp__x__t"})
	if !strings.Contains(out.Result.Text, "unknown intent: mcp:x:t (removed)") || out.Ran {
		t.Errorf("got %q", out.Result.Text)
	}
}

func TestScopeAndCapabilitiesAreCheckedAtDispatch(t *testing.T) {
	write := fake{spec: tools.Spec{Name: "write", Needs: tools.CapWrite, ReadOnly: true}}
	d := dispatcher(t, write)
	read := tools.CapRead
	for _, scope := range []*tools.Scope{{Tools: []string{"read"}}, {Capabilities: &read}} {
		out := d.Dispatch(t.Context(), tools.Call{Name: "write", Caller: tools.Caller{Scope: scope}})
		if !strings.Contains(out.Result.Text, "permission denied") || out.Result.Kind != tools.KindPermission || out.Ran {
			t.Errorf("got %q of kind %q", out.Result.Text, out.Result.Kind)
		}
	}
}

func TestWithoutGateOnlyReadOnlyToolsRun(t *testing.T) {
	d := dispatcher(t, fake{spec: tools.Spec{Name: "write"}})
	if out := d.Dispatch(t.Context(), tools.Call{Name: "write"}); !out.Result.Failed || out.Ran {
		t.Error("a mutating tool ran without a gate")
	}
}

func TestPanicInToolIsAResult(t *testing.T) {
	d := dispatcher(t, fake{spec: tools.Spec{Name: "boom", ReadOnly: true}, run: func(context.Context, tools.Call) (tools.Result, error) { panic("ouch") }})
	out := d.Dispatch(t.Context(), tools.Call{Name: "boom"})
	if !out.Result.Failed || !strings.Contains(out.Result.Text, "ouch") {
		t.Errorf("got %q", out.Result.Text)
	}
}

// broken is a gate with a fault.
type broken struct{ gate }

func (broken) Check(context.Context, tools.GateRequest) tools.Decision { panic("ouch") }

func TestPanicInJudgingACallRefusesIt(t *testing.T) {
	d := dispatcher(t, fake{spec: tools.Spec{Name: "read", ReadOnly: true}})
	d.Gate = broken{}
	out := d.Dispatch(t.Context(), tools.Call{Name: "read"})
	if !out.Result.Failed || out.Ran || !strings.Contains(out.Result.Text, "internal fault in deciding about the call: ouch. It does not run") {
		t.Errorf("ran: %v, got %q", out.Ran, out.Result.Text)
	}
}

func TestPanicInJudgingWhatIsNoCallRefusesIt(t *testing.T) {
	dec := (&tools.Dispatcher{Gate: broken{}}).Judge(t.Context(), tools.Caller{}, tools.Spec{Name: "lua_plugin"}, tools.Plan{})
	if dec.Allow || !strings.Contains(dec.Reason, "internal fault in deciding about the call: ouch") {
		t.Errorf("allowed: %v, got %q", dec.Allow, dec.Reason)
	}
}

func TestLongResultKeepsHeadAndTailAndSaysWhatIsMissing(t *testing.T) {
	long := strings.Repeat("漢", 40000)
	d := dispatcher(t, fake{spec: tools.Spec{Name: "big", ReadOnly: true}, run: func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Text: "start " + long + " end"}, nil
	}})
	text := d.Dispatch(t.Context(), tools.Call{Name: "big"}).Result.Text
	if !strings.HasPrefix(text, "start ") || !strings.HasSuffix(text, " end") || !strings.Contains(text, "bytes left out") {
		t.Errorf("got %.40q … %q", text, text[len(text)-20:])
	}
	if strings.ContainsRune(text, '\uFFFD') || len(text) > tools.DefaultMaxOutput+500 {
		t.Errorf("%d bytes, or a rune was cut", len(text))
	}
}

// gate returns a fixed decision.
type gate struct{ d tools.Decision }

func (g gate) Check(context.Context, tools.GateRequest) tools.Decision { return g.d }
func (g gate) Offered(tools.Spec, tools.Mode) (bool, string)           { return true, "" }

func TestEditedArgumentsReachTheTool(t *testing.T) {
	d := dispatcher(t, echo("edit"))
	d.Gate = gate{tools.Decision{Allow: true, Arguments: json.RawMessage(`{"path":"b"}`)}}
	if got := d.Dispatch(t.Context(), tools.Call{Name: "edit", Arguments: json.RawMessage(`{"path":"a"}`)}).Result.Text; !strings.HasSuffix(got, `{"path":"b"}`) {
		t.Errorf("got %s", got)
	}
	d.Gate = gate{tools.Decision{Reason: "denied by user: no"}}
	out := d.Dispatch(t.Context(), tools.Call{Name: "edit", Arguments: json.RawMessage(`{"path":"a"}`)})
	if out.Result.Text != "denied by user: no" || out.Result.Kind != tools.KindDenied {
		t.Errorf("got %q of kind %q", out.Result.Text, out.Result.Kind)
	}
}

func FuzzRepairNeverPanicsAndGivesObjects(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"path":1}`, `"x"`, `{"edits":"[1]"}`, `[[[[`, "\xff", `{"path":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		d := dispatcher(t, echo("edit"))
		out := d.Dispatch(t.Context(), tools.Call{Name: "edit", Arguments: json.RawMessage(args)})
		if out.Ran {
			var object map[string]any
			if err := json.Unmarshal(out.Call.Arguments, &object); err != nil {
				t.Errorf("%q ran with %q", args, out.Call.Arguments)
			}
		}
	})
}

func BenchmarkDispatch(b *testing.B) {
	reg := tools.NewRegistry()
	if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, echo("edit")); err != nil {
		b.Fatal(err)
	}
	d := &tools.Dispatcher{Registry: reg}
	args := json.RawMessage(`{"path":"a","limit":20}`)
	b.ReportAllocs()
	for b.Loop() {
		d.Dispatch(context.Background(), tools.Call{Name: "edit", Arguments: args})
	}
}

// editor is a gate whose person edits the arguments of each call in question.
type editor struct {
	edits []string // the arguments in each answer, "" for unchanged
	deny  string   // what no call may contain
	asked []tools.GateRequest
}

func (e *editor) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

func (e *editor) Check(_ context.Context, req tools.GateRequest) tools.Decision {
	e.asked = append(e.asked, req)
	if e.deny != "" && strings.Contains(req.Plan.Summary, e.deny) {
		return tools.Decision{By: tools.ByRule, Reason: "denied by rule"}
	}
	dec := tools.Decision{Allow: true, By: tools.ByUser}
	if n := len(e.asked); n <= len(e.edits) && e.edits[n-1] != "" {
		dec.Arguments = json.RawMessage(e.edits[n-1])
	}
	return dec
}

// planner is echo with a plan that contains the path.
type planner struct{ fake }

func (planner) Plan(_ context.Context, c tools.Call) (tools.Plan, error) {
	var a struct{ Path string }
	if err := c.Decode(&a); err != nil {
		return tools.Plan{}, err
	}
	if a.Path == "nowhere" {
		return tools.Plan{}, tools.Errorf(tools.KindIO, "nowhere does not exist")
	}
	return tools.Plan{Summary: "Touch " + a.Path, Accesses: []tools.Access{{Kind: tools.AccessWrite, Path: a.Path}}}, nil
}

// An edited call is planned and judged like a new one. What runs is what was judged last, and the
// model is told what was changed.
func TestEditedArgumentsArePlannedAndJudgedAnew(t *testing.T) {
	for name, tc := range map[string]struct {
		gate         editor
		rounds       int
		want, says   string
		refused, ran bool
	}{
		"as they are":           {editor{}, 1, `{"path":"a<b"}`, "", false, true},
		"written anew, equal":   {editor{edits: []string{`{"path":"a\u003cb"}`}}, 1, `"a`, "", false, true},
		"another path":          {editor{edits: []string{`{"path":"b"}`}}, 2, `{"path":"b"}`, "[the user edited the call before it ran; path: b]", false, true},
		"edited twice":          {editor{edits: []string{`{"path":"b"}`, `{"path":"c","limit":"3"}`}}, 3, `{"limit":3,"path":"c"}`, "limit: 3; path: c", false, true},
		"what a rule denies":    {editor{edits: []string{`{"path":"secret"}`}, deny: "secret"}, 2, "denied by rule", "", true, false},
		"what can't be done":    {editor{edits: []string{`{"path":"nowhere"}`}}, 1, "nowhere does not exist", "the edited arguments do not fit", true, false},
		"what the schema lacks": {editor{edits: []string{`{"path":"b","mode":"z"}`}}, 1, "argument mode must be one of", "", true, false},
		"for ever":              {editor{edits: strings.Split(strings.Repeat(`{"path":"x"} {"path":"y"} `, 10), " ")[:20]}, 9, "edited too often", "", true, false},
	} {
		d := dispatcher(t, planner{echo("edit")})
		d.Gate = &tc.gate
		var seen []tools.Decision
		out := d.Dispatch(t.Context(), tools.Call{Name: "edit", Arguments: json.RawMessage(`{"path":"a<b"}`), Caller: tools.Caller{
			Observe: func(_ tools.Call, d tools.Decision) { seen = append(seen, d) },
		}})
		text := out.Result.Text
		if out.Result.Failed != tc.refused || out.Ran != tc.ran || !strings.Contains(text, tc.want) || !strings.Contains(text, tc.says) {
			t.Errorf("%s: %+v", name, out.Result)
		}
		if tc.says == "" && strings.Contains(text, "the user edited") {
			t.Errorf("%s: %q", name, text)
		}
		if len(tc.gate.asked) != tc.rounds || len(seen) != 1 {
			t.Errorf("%s: judged %d times, %d decisions seen", name, len(tc.gate.asked), len(seen))
		}
		for i, req := range tc.gate.asked {
			var a struct{ Path string }
			if err := req.Call.Decode(&a); err != nil || req.Plan.Summary != "Touch "+a.Path || (req.Answered != nil) != (i > 0) {
				t.Errorf("%s: round %d: %s with plan %+v", name, i, req.Call.Arguments, req.Plan)
			}
		}
		if tc.ran && len(out.Call.Plan.Accesses) != 1 {
			t.Errorf("%s: the call carries no plan", name)
		}
	}
}

// judge is a gate that always returns the same decision.
type judge struct{ dec tools.Decision }

func (j judge) Check(context.Context, tools.GateRequest) tools.Decision { return j.dec }
func (judge) Offered(tools.Spec, tools.Mode) (bool, string)             { return true, "" }

func TestWhatIsNoCallIsJudgedTheSameWay(t *testing.T) {
	t.Parallel()
	plan := tools.Plan{Summary: "Load plugin x"}
	observed := 0
	caller := tools.Caller{Observe: func(call tools.Call, _ tools.Decision) {
		if observed++; call.ID == "" || call.Name != "x" {
			t.Errorf("%+v", call)
		}
	}}
	if dec := (&tools.Dispatcher{}).Judge(t.Context(), caller, tools.Spec{Name: "x", ReadOnly: true}, plan); dec.Allow || dec.Reason == "" {
		t.Errorf("without a gate: %+v", dec)
	}
	dec := (&tools.Dispatcher{Gate: judge{}}).Judge(t.Context(), caller, tools.Spec{Name: "x"}, plan)
	if dec.Allow || dec.Reason != "denied: Load plugin x" || observed != 1 {
		t.Errorf("%+v, observed %d times", dec, observed)
	}
	dec = (&tools.Dispatcher{Gate: judge{tools.Decision{Allow: true, Silent: true}}}).Judge(t.Context(), caller, tools.Spec{Name: "x"}, plan)
	if !dec.Allow || observed != 1 {
		t.Errorf("%+v, observed %d times", dec, observed)
	}
}

func TestWholeFloatsAreIntegers(t *testing.T) {
	t.Parallel()
	tool := echo("count")
	tool.spec.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},
		"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},"f":{"type":"number"},"list":{"type":"array","items":{"type":"integer"}},
		"odd":true,"any":{}}}`)
	tool.run = func(_ context.Context, c tools.Call) (tools.Result, error) {
		var a struct {
			N    int   `json:"n"`
			List []int `json:"list"`
		}
		return tools.Result{Text: string(c.Arguments)}, c.Decode(&a)
	}
	d := dispatcher(t, tool)
	for args, want := range map[string]string{
		`{"n":1.0}`:            `{"n":1}`,
		`{"n":1e2}`:            `{"n":100}`,
		`{"n":"3.0"}`:          `{"n":3}`,
		`{"n":-0.0}`:           `{"n":0}`,
		`{"maybe":2.0}`:        `{"maybe":2}`,
		`{"f":2.0,"any":1.0}`:  `{"f":2.0,"any":1.0}`, // other numbers are not rewritten
		`{"list":[1.0,2E1]}`:   `{"list":[1,20]}`,
		`{"n":1.5}`:            "argument n must be integer, not a number",
		`{"n":1e300}`:          "n must be a whole number in range, not 1e300",
		`{"list":[1,"x",2.0]}`: "do not fit the schema",
	} {
		out := d.Dispatch(t.Context(), tools.Call{Name: "count", Arguments: json.RawMessage(args)})
		if !strings.Contains(out.Result.Text, want) || strings.Contains(out.Result.Text, "Go ") {
			t.Errorf("%s: %q, want %q", args, out.Result.Text, want)
		}
	}
}

// waiting blocks in Plan until the call is cancelled.
type waiting struct{ fake }

func (waiting) Plan(ctx context.Context, _ tools.Call) (tools.Plan, error) {
	<-ctx.Done()
	return tools.Plan{}, ctx.Err()
}

func TestACallGivenUpWhileItIsPlannedIsCancelled(t *testing.T) {
	t.Parallel()
	d := dispatcher(t, waiting{named("slow")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res := d.Dispatch(ctx, tools.Call{Name: "slow", Arguments: []byte(`{}`)}).Result; res.Kind != tools.KindCancelled || res.Text != "interrupted" {
		t.Errorf("%+v", res)
	}
}
