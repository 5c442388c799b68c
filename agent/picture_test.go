package agent_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

func TestARefusedPictureIsTakenOutForGood(t *testing.T) {
	t.Parallel()
	refuse := func(r modeltest.Request) string {
		if strings.Contains(string(r.Raw), "anVuaw==") { // junk
			return "Could not process image"
		}
		return ""
	}
	b, srv := dial(t, nil, modeltest.RefuseIf(refuse, modeltest.Text("ok")).Forever())
	b.Prompt(event.Prompt{Text: "look", Images: []model.Image{{MIME: "image/png", Data: []byte("good")}, {MIME: "image/png", Data: []byte("junk")}}})
	b.turnEnd()
	n := len(srv.Requests())
	if got := srv.Requests()[n-1]; n != 2 || got.Messages[1].Images != 1 || !strings.Contains(got.Messages[1].Content, "left out") {
		t.Fatalf("%d requests, the last: %s", n, got.Raw)
	}
	rows, err := b.store.History().All(t.Context(), b.State().Session)
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, p := range rows[0].Parts {
		kinds += p.Kind + " "
	}
	if kinds != "text image refused " || string(rows[0].Parts[2].Data) != "junk" {
		t.Errorf("stored: %s", kinds)
	}
}

func TestAProviderThatRefusesEveryToolIsAskedThreeTimes(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	var list []tools.Tool
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		list = append(list, counted(name, readParams, &runs))
	}
	b, srv := dial(t, list, modeltest.Refusal("invalid_request_error", "tools[0] has no business here").Forever())
	b.turn("go")
	if n := len(srv.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestAWindowSmallerThanTheBaseIsSaidSo(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	long := strings.Replace(readParams, "integer", "integer\",\"description\":\""+strings.Repeat("Be helpful. ", 200), 1)
	b, _ := dial(t, []tools.Tool{counted("read", long, &runs)}, modeltest.Error(400, "", "the request exceeds the available context size (300 tokens)").Forever())
	end, _ := b.turn("go")
	if !strings.Contains(end.Error, "the system prompt takes about") || !strings.Contains(end.Error, "300 tokens") {
		t.Errorf("%s", end.Error)
	}
}

func TestAnUnknownFinishReasonIsNamed(t *testing.T) {
	t.Parallel()
	b, _ := dial(t, nil, modeltest.Text("x").Finish("repetition_truncation"))
	_, events := b.turn("go")
	said := ""
	for _, ev := range events {
		if n, ok := ev.(event.Notice); ok {
			said += n.Text
		}
	}
	if !strings.Contains(said, "repetition_truncation") {
		t.Errorf("%q", said)
	}
}
