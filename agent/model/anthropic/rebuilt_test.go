package anthropic_test

import (
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

func TestABeginningThatIsKnownToHaveChangedIsNotRefusedFirst(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("Hi.").WithReasoning("So."), modeltest.Text("ok"), modeltest.Text("ok"))
	srv.BindThinking()
	c := newClient(t, srv.URL())
	req := ask("x")
	resp, _, err := stream(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	req = answered(req, resp)
	req.Messages = append(req.Messages, model.Message{Role: model.RoleUser, Text: "go on"})
	req.System, req.Rebuilt = "Another role.", true
	if _, s, err := stream(t, c, req); err != nil || len(s.notes) != 1 || !strings.Contains(s.notes[0], "has changed") {
		t.Fatalf("%q %v", s.notes, err)
	}
	if all := srv.Requests(); len(all) != 2 || !strings.Contains(string(all[1].Raw), "drop_block") {
		t.Errorf("%d requests", len(all))
	}
	if !c.Lost(opus, resp.Opaque[0]) {
		t.Error("the thinking counts as kept")
	}
	req.Rebuilt = false
	if _, s, err := stream(t, c, req); err != nil || len(s.notes) > 0 {
		t.Errorf("again: %q %v", s.notes, err)
	}
}
