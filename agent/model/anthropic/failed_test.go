package anthropic_test

import (
	"strings"
	"testing"

	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
)

func TestAResultThatFailedSaysSo(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}, modeltest.Call{Name: "read", Args: `{"path":"b"}`}), modeltest.Text("ok"))
	c := newClient(t, srv.URL())
	req := ask("x")
	req.Tools = []model.Tool{readTool("read")}
	resp, _, err := stream(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	req = answered(req, resp, "there is no such file", "text")
	req.Messages[len(req.Messages)-2].Failed = true
	if _, _, err := stream(t, c, req); err != nil {
		t.Fatal(err)
	}
	if raw := string(srv.Requests()[1].Raw); strings.Count(raw, `"is_error":true,"content":"there is no such file"`) != 1 || strings.Count(raw, "is_error") != 1 {
		t.Errorf("%s", raw)
	}
}
