package agent_test

import (
	"context"
	"strings"
	"testing"

	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// paper is a tool whose result is a document.
func paper() tools.Tool {
	return tool{spec: tools.Spec{Name: "read", Parameters: []byte(readParams), ReadOnly: true, Trusted: true}, run: func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Text: "paper.pdf is a PDF", Parts: []tools.Part{{MIME: "application/pdf", Data: []byte("%PDF-1.7"), Text: "what it says"}}}, nil
	}}
}

func TestADocumentGoesToModelsThatTakeItAndAsTextToOthers(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		b, srv := polyglot(t, id, []tools.Tool{paper()}, nil, modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}), modeltest.Text("done"))
		b.turn("go")
		said, images := resultsOf(lastRequest(srv))
		taken := speaking()[id] != provider.Chat
		if taken != (images == 1) || taken == strings.Contains(said, "what it says") || !strings.Contains(said, "paper.pdf is a PDF") {
			t.Errorf("%q, %d documents", said, images)
		}
	})
}

func TestAModelThatRefusesDocumentsGetsTheirText(t *testing.T) {
	t.Parallel()
	for id, protocol := range speaking() {
		if protocol == provider.Chat {
			continue
		}
		t.Run(string(protocol), func(t *testing.T) {
			b, srv := polyglot(t, id, []tools.Tool{paper()}, nil, modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}),
				modeltest.Error(400, "invalid_request_error", "document blocks and input_file parts are not supported by this endpoint"), modeltest.Text("done"), modeltest.Text("more"))
			if end, _ := b.turn("go"); end.Text != "done" {
				t.Fatalf("%+v", end)
			}
			b.turn("again")
			if said, images := resultsOf(lastRequest(srv)); images != 0 || !strings.Contains(said, "what it says") {
				t.Errorf("%q, %d documents", said, images)
			}
		})
	}
}

func TestADocumentThatIsRefusedGivesWayToItsText(t *testing.T) {
	t.Parallel()
	b, srv := polyglot(t, "claude-opus-5-5", []tools.Tool{paper()}, nil, modeltest.Calls(modeltest.Call{Name: "read", Args: `{"path":"a"}`}),
		modeltest.Error(400, "invalid_request_error", "messages.2.content.0: The PDF specified was not valid."), modeltest.Text("done"))
	if end, _ := b.turn("go"); end.Text != "done" {
		t.Fatalf("%+v", end)
	}
	if said, images := resultsOf(lastRequest(srv)); images != 0 || !strings.Contains(said, "what it says") {
		t.Errorf("%q, %d documents", said, images)
	}
}

// resultsOf returns the text of a request's tool results and the number of its images.
func resultsOf(r modeltest.Request) (said string, images int) {
	for _, m := range r.Messages {
		images += m.Images
		if m.Role == "tool" {
			said += m.Content
		}
	}
	return said, images
}
