package agent_test

import (
	"testing"

	"jcode/agent/model"
)

func TestRewindTakesMessagesOutAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "one"}, {text: "two"}, {text: "three"}})
	b.turn("first")
	end, _ := b.turn("second")
	if err := b.Rewind(t.Context(), int64(end.Turn)); err != nil {
		t.Fatal(err)
	}
	next, _ := b.turn("other")
	if m := b.model.request(t, 2).Messages; len(m) != 3 || m[1].Text != "one" || m[2].Text != "other" {
		t.Errorf("messages are %+v", m)
	}
	if next.Turn <= end.Turn {
		t.Errorf("turn %d after the rewound turn %d: its checkpoints would mix", next.Turn, end.Turn)
	}
}

func TestRegenerateAsksAgainForTheLastAnswer(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "bad"}, {text: "better"}})
	if err := b.Regenerate(t.Context()); err == nil {
		t.Error("an empty session has something to repeat")
	}
	b.turn("question")
	if err := b.Regenerate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end, _ := b.turnEnd(); end.Text != "better" {
		t.Errorf("end is %+v", end)
	}
	if m := b.model.request(t, 1).Messages; len(m) != 1 || m[0].Text != "question" {
		t.Errorf("messages are %+v", m)
	}
}

func TestContextUseNamesWhatFillsTheWindow(t *testing.T) {
	t.Parallel()
	b := start(t, []reply{{text: "hi", usage: model.Usage{Input: 1000, Output: 5}}}, reader("read", says("")))
	b.turn("hello")
	use, err := b.ContextUse(t.Context())
	if err != nil || !use.Known || use.Total < 1000 || len(use.Parts) != 3 {
		t.Errorf("%+v, %v", use, err)
	}
}
