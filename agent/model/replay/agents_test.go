package replay_test

import (
	"path/filepath"
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/agent/model/replay"
)

func from(agent string) model.Request {
	req := ask("x")
	req.Agent = agent
	return req
}

func TestLinesOfAnAgentArePlayedToItAlone(t *testing.T) {
	const lines = `{"agent":"ann","text":"ann 1"}
{"text":"main 1"}
{"agent":"ann","text":"ann 2"}
{"text":"main 2"}
`
	p := script(t, lines, replay.Options{})
	for _, c := range []struct{ agent, want string }{{"", "main 1"}, {"ann", "ann 1"}, {"", "main 2"}, {"ann", "ann 2"}} {
		if resp, _, err := stream(t, p, from(c.agent)); err != nil || resp.Text != c.want {
			t.Errorf("%q hears %q, %v", c.agent, resp.Text, err)
		}
	}
	p = script(t, lines, replay.Options{})
	_, _, err := stream(t, p, from("ben"))
	if err == nil || !strings.Contains(err.Error(), `the script has no line for it: such a line says "agent": "ben"`) {
		t.Errorf("an agent without lines gets %v", err)
	}
	p = script(t, `{"text":"for anybody"}`, replay.Options{})
	if resp, _, err := stream(t, p, from("ben")); err != nil || resp.Text != "for anybody" {
		t.Errorf("a script without agents says %q, %v", resp.Text, err)
	}
}

func TestRecordingSaysWhichAgentSpoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rec.jsonl")
	rec, err := replay.NewRecorder(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := rec.Wrap(script(t, `{"text":"m"}`+"\n"+`{"agent":"ann","text":"a"}`, replay.Options{}))
	for _, agent := range []string{"ann", ""} {
		if _, _, err := stream(t, c, from(agent)); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := replay.Open(path, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{"": "m", "ann": "a"} {
		if resp, _, err := stream(t, p, from(agent)); err != nil || resp.Text != want {
			t.Errorf("%q hears %q, %v", agent, resp.Text, err)
		}
	}
}
