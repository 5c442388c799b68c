package role_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"jcode/session/role"
)

const ticket = `---
variables:
  - name: id
    description: the ticket
  - {name: lang, default: German, choices: [German, "French, or so"]}
  - {name: greeting, default: "Hello {{id}}, in {{lang}}"}
  - {name: note, required: false}
mcp_servers: ["tracker-{{lang}}"]
---
{{greeting}}: {{ id }} \{{id}} {{note}}|{{cwd}}

### INPUT:
about {{id}}
### OUTPUT:
{{lang}}
`

func TestVariablesArePutInOnce(t *testing.T) {
	t.Parallel()
	r := role.Parse("ticket", []byte(ticket))
	if err := r.Usable(); err != nil {
		t.Fatal(err)
	}
	// Values that look like variables, examples or the input mark stay text.
	values := map[string]string{"id": "{{lang}} __INPUT__\n### INPUT:\n\\{{id}}"}
	got := r.Render(role.Vars{Cwd: "/w", Values: values})
	want := role.Rendered{
		System:  "Hello " + values["id"] + ", in German: " + values["id"] + " {{id}} |/w",
		Shots:   []role.Shot{{"about " + values["id"], "German"}},
		Servers: []string{"tracker-German"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	again := role.Parse("ticket", []byte(role.Format(r)))
	if !again.SameAs(r) {
		t.Errorf("formatted, it became another role:\n%s", role.Format(r))
	}
	kept, err := role.FromSnapshot(r.Snapshot())
	if err != nil || !reflect.DeepEqual(kept.Render(role.Vars{Cwd: "/w", Values: values}), want) {
		t.Errorf("from its snapshot it renders differently: %v", err)
	}
}

func TestAValueInATemplateIsNotTakenForItsInput(t *testing.T) {
	t.Parallel()
	r := role.Parse("r", []byte("---\nvariables: [a]\n---\nSay {{a}} to __INPUT__."))
	if got := r.Render(role.Vars{Values: map[string]string{"a": "__INPUT__"}}).Prompt("{{a}}"); got != "Say __INPUT__ to {{a}}." {
		t.Error(got)
	}
}

func TestValuesAreChecked(t *testing.T) {
	t.Parallel()
	r := role.Parse("ticket", []byte(ticket))
	for name, c := range map[string]struct {
		kept, given map[string]string
		want        map[string]string
		missing     string
		err         string
	}{
		"nothing":             {nil, nil, map[string]string{}, "needs 1 value: id (the ticket)", ""},
		"given over kept":     {map[string]string{"id": "old", "lang": "German"}, map[string]string{"id": "new"}, map[string]string{"id": "new", "lang": "German"}, "", ""},
		"kept that fits not":  {map[string]string{"id": "1", "lang": "Klingon", "gone": "x"}, nil, map[string]string{"id": "1"}, "", ""},
		"unknown":             {nil, map[string]string{"idd": "1"}, nil, "", `there is no variable "idd" (did you mean id?)`},
		"no choice":           {nil, map[string]string{"id": "1", "lang": "Klingon"}, nil, "", `"Klingon" is not a choice: use German, French, or so`},
		"blank":               {nil, map[string]string{"id": " "}, nil, "", "must not be blank"},
		"optional and blank":  {nil, map[string]string{"id": "1", "note": ""}, map[string]string{"id": "1", "note": ""}, "", ""},
		"a megabyte":          {nil, map[string]string{"id": strings.Repeat("x", 1<<20)}, nil, "", "has 1048576 bytes, the most is 65536"},
		"an unknown megabyte": {nil, map[string]string{strings.Repeat("x", 1<<20): "1"}, nil, "", "there is no variable"},
		"no text":             {nil, map[string]string{"id": "\xff"}, nil, "", "not UTF-8"},
	} {
		values, missing, err := r.Values(c.kept, c.given)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) || len(err.Error()) > 400 {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
		case c.missing != "":
			if e := (&role.MissingError{Role: "ticket", Missing: missing}); err != nil || !strings.Contains(e.Error(), c.missing) {
				t.Errorf("%s: %v, %v", name, e, err)
			}
		case err != nil || missing != nil || !reflect.DeepEqual(values, c.want):
			t.Errorf("%s: %v, %v, %v", name, values, missing, err)
		}
	}
}

func TestFaultyVariablesSayLineAndCure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"---\nvariables: yes please\n---\n", "line 2: variables is not a list"},
		{"---\nvariables:\n  a: b\n---\n", "line 2: variables is not a list"},
		{"---\nvariables:\n  - description: x\n---\n", "line 3: variables: an entry has no name"},
		{"---\nvariables:\n  - name: two words\n---\n", `line 3: variables: name "two words" (use letters`},
		{"---\nvariables:\n  - name: cwd\n---\n", "line 3: variables: {{cwd}} is filled in by jcode"},
		{"---\nvariables:\n  - name: a\n  - name: a\n---\n", `line 4: variables: "a" is listed twice`},
		{"---\nvariables:\n  - name: a\n    required: maybe\n---\n", `line 4: variables: required: "maybe" is neither true nor false`},
		{"---\nvariables:\n  - name: a\n    choices: []\n---\n", "line 4: variables: choices: it is not a list with values"},
		{"---\nvariables:\n  - name: a\n    default: x\n    choices: [y]\n---\n", `a: default: "x" is not a choice`},
		{"---\nvariables:\n  - name: a\n    colour: red\n---\n", `line 4: variables: unknown key "colour" (use name`},
		{"---\nvariables: [name]\n---\n\nHello\n{{nmae}}\n", "line 6: there is no variable {{nmae}} (did you mean name?)"},
		{"---\nvariables:\n  - {name: a, default: '{{b}}'}\n  - {name: b, default: '{{a}}'}\n---\n", "refer to each other in a circle: a, b, a"},
		{"---\nvariables: [a]\nmcp_servers: ['{{b}}']\n---\n", "line 3: mcp_servers: there is no variable {{b}}"},
	} {
		err := role.Parse("r", []byte(c.text)).Usable()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

func TestARoleOfAProjectAsksForValuesOnlyOnceTrusted(t *testing.T) {
	t.Parallel()
	trusted := false
	roles := &role.Layers{ProjectDir: t.TempDir(), Trusted: func(role.Role) bool { return trusted }}
	writeRole(t, roles.ProjectDir, "ask", "---\nvariables: [a]\n---\n{{a}}")
	if _, err := roles.Get(t.Context(), "ask"); err == nil || errors.Is(err, role.ErrUnknown) || !strings.Contains(err.Error(), "asks for values, and waits until you trust") {
		t.Error(err)
	}
	trusted = true
	if _, err := roles.Get(t.Context(), "ask"); err != nil {
		t.Error(err)
	}
}

func BenchmarkRenderingARoleWithVariables(b *testing.B) {
	r := role.Parse("ticket", []byte(ticket))
	vars := role.Vars{Cwd: "/w", Values: map[string]string{"id": "ABC-1"}}
	for b.Loop() {
		r.Render(vars)
	}
}
