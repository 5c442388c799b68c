package agent

import (
	"testing"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

func pointer[T any](v T) *T { return &v }

// What a conversation works with is a value: whatever is done to it can be told without a conversation.
func TestSettingsFollowWhatThePersonChooses(t *testing.T) {
	t.Parallel()
	writer := Role{Name: "writer", Model: "big", Temperature: pointer(0.9), Scope: &tools.Scope{ModeCeiling: tools.ModePlan}, Values: map[string]string{"tone": "dry"}}
	enter := func(s *settings, role Role, m Model) {
		s.beforeRole()
		s.putInForce(role, m)
		s.enter(role)
	}
	for name, tc := range map[string]struct {
		do    func(s *settings)
		model string
		own   string // the model without a role
		mode  tools.Mode
		heat  *float64
	}{
		"nothing": {func(*settings) {}, "small", "small", tools.ModeEdits, nil},
		"another model keeps the temperature": {func(s *settings) {
			s.tune(Tuning{Temperature: pointer(0.2)})
			s.setModel(Model{Name: "other"})
		}, "other", "other", tools.ModeEdits, pointer(0.2)},
		"a role brings its model and allows less": {func(s *settings) { enter(s, writer, Model{Name: "big"}) }, "big", "small", tools.ModePlan, pointer(0.9)},
		"what is chosen in a role outlives it": {func(s *settings) {
			enter(s, writer, Model{Name: "big"})
			s.setModel(Model{Name: "third"})
			s.tune(Tuning{Temperature: pointer(0.5)})
			enter(s, s.own, Model{Name: s.own.Model})
		}, "third", "third", tools.ModeEdits, pointer(0.5)},
		"a mode is remembered below a role's": {func(s *settings) {
			enter(s, writer, Model{Name: "big"})
			s.setMode(tools.ModeYolo)
			enter(s, s.own, Model{Name: s.own.Model})
		}, "small", "small", tools.ModeYolo, nil},
		"an override ends as it began": {func(s *settings) {
			before, chosen := s.model, s.chosen
			s.model = Model{Name: "lent"}.tunedAs(before)
			s.model = s.backTo(before, "lent", chosen)
		}, "small", "small", tools.ModeEdits, nil},
		"what is chosen during an override stays": {func(s *settings) {
			before, chosen := s.model, s.chosen
			s.model = Model{Name: "lent"}.tunedAs(before)
			s.tune(Tuning{Temperature: pointer(0.1)})
			s.model = s.backTo(before, "lent", chosen)
		}, "small", "small", tools.ModeEdits, pointer(0.1)},
		"a model that is chosen during an override stays": {func(s *settings) {
			before, chosen := s.model, s.chosen
			s.model = Model{Name: "lent"}.tunedAs(before)
			s.setModel(Model{Name: "other"})
			s.model = s.backTo(before, "lent", chosen)
		}, "other", "other", tools.ModeEdits, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings{mode: tools.ModeEdits, model: Model{Name: "small"}}
			tc.do(&s)
			if s.model.Name != tc.model || s.ownModel() != tc.own || s.allowed() != tc.mode || !same(s.model.Temperature, tc.heat) {
				t.Errorf("model %s (own %s), mode %s, temperature %v", s.model.Name, s.ownModel(), s.allowed(), s.model.Temperature)
			}
		})
	}
}

func TestSettingsSayWhatIsStored(t *testing.T) {
	t.Parallel()
	s := settings{mode: tools.ModeAsk, model: Model{Name: "small"}}
	if ch := s.setMode(tools.ModeAuto); ch.Mode == nil || *ch.Mode != "auto" || ch.Model != nil {
		t.Errorf("a mode: %+v", ch)
	}
	if ch := s.setModel(Model{Name: "big"}); ch.Model == nil || *ch.Model != "big" || ch.Mode != nil {
		t.Errorf("a model: %+v", ch)
	}
	role := Role{Name: "writer", Snapshot: "snapshot", Values: map[string]string{"tone": "dry"}}
	ch := s.enter(role)
	if *ch.RoleName != "writer" || *ch.RoleSnapshot != "snapshot" || *ch.RoleValues != `{"writer":{"tone":"dry"}}` {
		t.Errorf("a role: %s %s %s", *ch.RoleName, *ch.RoleSnapshot, *ch.RoleValues)
	}
	var row session.Session
	s.write(&row)
	if row.Model != "big" || row.Mode != "auto" || row.RoleName != "writer" || row.RoleSnapshot != "snapshot" || row.RoleValues != *ch.RoleValues {
		t.Errorf("a new row: %+v", row)
	}
	if told := s.takeEntered(); told == nil || told.Name != "writer" || s.takeEntered() != nil {
		t.Error("the switch is not told exactly once")
	}
	if got := s.valuesOf("writer"); got["tone"] != "dry" {
		t.Errorf("values: %v", got)
	}
}

func TestARecordCountsWhatIsUsedAndGivesItsRowsOnce(t *testing.T) {
	t.Parallel()
	var r record
	var s spending
	s.read(session.Session{InputTokens: 10, Cost: 1, Estimated: true})
	r.read([]session.Message{{Role: session.RoleUser}, {Role: session.RoleAssistant}})
	s.count(&session.Usage{Input: 5, Output: 2, Cost: 0.5})
	if want := (model.Usage{Input: 15, Output: 2, Estimated: true}); s.total != want || s.cost != 1.5 || r.turns != 1 {
		t.Errorf("total %+v, cost %v, turns %d", s.total, s.cost, r.turns)
	}
	if len(r.takeRows()) != 2 || r.takeRows() != nil {
		t.Error("the rows are not given exactly once")
	}
}

func TestAnInboxHoldsPromptsAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	var in inbox
	for _, p := range []event.Prompt{{Text: "a", Queued: "1"}, {Text: "b", Queued: "2", Model: "other"}, {Text: "c", Queued: "3"}} {
		in.add(p)
	}
	if got := in.steer(); len(got) != 1 || got[0].Text != "a" {
		t.Errorf("joined %+v: a prompt for another model waits for a turn of its own", got)
	}
	stopped := false
	in.interrupt = func() { stopped = true }
	if !in.stop() || !stopped {
		t.Error("not stopped")
	}
	if _, ok := in.next(); ok {
		t.Error("a held queue went on")
	}
	in.add(event.Prompt{Text: "d", Queued: "4"})
	if p, ok := in.next(); !ok || p.Text != "b" {
		t.Errorf("next is %+v, %v", p, ok)
	}
	if got := in.remove(""); len(got) != 2 || len(in.list()) != 0 {
		t.Errorf("removed %+v", got)
	}
}
