package agent_test

import (
	"strings"
	"testing"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/internal/testkit/modeltest"
	"jcode/tools"
)

// searching allows the providers of all models to search the web.
func searching(o *agent.Options) {
	resolve := o.Resolve
	o.Resolve = func(name string) (agent.Model, error) {
		m, err := resolve(name)
		m.Searches = true
		return m, err
	}
}

func fetching() tools.Tool {
	return tool{spec: tools.Spec{Name: "fetch", ReadOnly: true, Trusted: true}, run: says("a page")}
}

var found = modeltest.Search{Query: "go 2", Sources: []modeltest.Source{{Title: "A page", URL: "https://example.com/a"}, {Title: "Another", URL: "https://example.com/b"}}}

func searches(r modeltest.Request) bool {
	return strings.Contains(string(r.Raw), `{"type":"web_search`)
}

func TestSearchesOfTheProviderAreShownAndGoBackWhole(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		b, srv := polyglot(t, id, []tools.Tool{fetching()}, searching,
			modeltest.Text("Found it.").WithReasoning("I look").WithSearch(found, found).Usage(modeltest.Usage{Input: 100, Output: 10}).WithCalls(modeltest.Call{Name: "fetch", Args: `{}`}),
			modeltest.Text("done"), modeltest.Text("again"))
		end, events := b.turn("go")
		if end.Text != "done" {
			t.Fatalf("%+v", end)
		}
		if end, _ := b.turn("more"); end.Text != "again" {
			t.Fatalf("%+v", end)
		}
		chat := speaking()[id] == provider.Chat
		var said, used int
		for _, ev := range events {
			switch ev := ev.(type) {
			case event.Notice:
				said += strings.Count(ev.Text, "web_search ran at the provider: go 2") + strings.Count(ev.Text, "https://example.com/b")
			case event.Usage:
				used += ev.Step.Searches
			}
		}
		if chat != (said == 0) || !chat && (said != 4 || used != 2) {
			t.Errorf("said %d times, %d searches counted", said, used)
		}
		for i, r := range srv.Requests() {
			if searches(r) == chat {
				t.Errorf("request %d: %s", i, r.Raw)
			}
		}
		if raw := string(lastRequest(srv).Raw); !chat && strings.Count(raw, "https://example.com/b") != 2 {
			t.Errorf("%s", raw)
		}
	})
}

// What a search was asked may be unknown: then nothing stands in its place.
func TestASearchOfWhichNothingIsKnownIsSaidPlainly(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"claude-opus-5-5", "gpt-5.6"} {
		b, _ := polyglot(t, id, []tools.Tool{fetching()}, searching, modeltest.Text("Found it.").WithSearch(modeltest.Search{}))
		_, events := b.turn("go")
		var said []string
		for _, ev := range events {
			if n, ok := ev.(event.Notice); ok && strings.Contains(n.Text, "web_search") {
				said = append(said, n.Text)
			}
		}
		if len(said) != 1 || said[0] != "web_search ran at the provider" {
			t.Errorf("%s: %q", id, said)
		}
	}
}

// Without the tool fetch, the provider does not search either.
func TestTheProviderSearchesOnlyForThoseWhoMayFetch(t *testing.T) {
	t.Parallel()
	eachProtocol(t, func(t *testing.T, id string) {
		b, srv := polyglot(t, id, []tools.Tool{reader("read", says("x"))}, searching, modeltest.Text("done"))
		b.turn("go")
		if searches(lastRequest(srv)) {
			t.Errorf("%s", lastRequest(srv).Raw)
		}
	})
	b, srv := polyglot(t, "gpt-5.6", []tools.Tool{fetching()}, nil, modeltest.Text("done"))
	b.turn("go")
	if searches(lastRequest(srv)) {
		t.Errorf("nobody set it: %s", lastRequest(srv).Raw)
	}
}

func TestAnEndpointThatCannotSearchIsAskedWithout(t *testing.T) {
	t.Parallel()
	for id, refusal := range map[string]string{
		"claude-opus-5-5": "web search is not enabled for this organization", "gpt-5.6": "Hosted tool 'web_search' is not supported with this model.",
	} {
		b, srv := polyglot(t, id, []tools.Tool{fetching()}, searching, modeltest.Error(400, "invalid_request_error", refusal), modeltest.Text("done"), modeltest.Text("again"))
		if end, _ := b.turn("go"); end.Text != "done" {
			t.Fatalf("%+v", end)
		}
		b.turn("more")
		if all := srv.Requests(); len(all) != 3 || !searches(all[0]) || searches(all[1]) || searches(all[2]) {
			t.Errorf("%s: %d requests", id, len(all))
		}
	}
}

// An interrupted search leaves a history that the maker accepts.
func TestASearchThatIsInterruptedLeavesAValidHistory(t *testing.T) {
	t.Parallel()
	for id, chunks := range map[string][]string{
		"claude-opus-5-5": {
			`{"type":"message_start","message":{"model":"claude-opus-5-5","usage":{"input_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I search."}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop","index":1}`,
		},
		"gpt-5.6": {
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m1"}}`, `{"type":"response.output_text.delta","output_index":0,"delta":"I search."}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"id":"m1","type":"message","role":"assistant","content":[{"type":"output_text","text":"I search."}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"type":"web_search_call","id":"ws_1","status":"in_progress"}}`, `{"type":"response.web_search_call.searching","output_index":1}`,
		},
	} {
		b, srv := polyglot(t, id, []tools.Tool{fetching()}, searching, modeltest.Chunks(append(chunks, `{"type":"ping"}`)...).SilenceAfter(len(chunks)), modeltest.Text("on"))
		b.Prompt(event.Prompt{Text: "go"})
		b.until(func(ev event.Event) bool {
			_, text := ev.(event.TextDelta)
			_, ran := ev.(event.Notice)
			return text && id == "gpt-5.6" || ran // the search of the other is whole, and its result is not there
		})
		b.Interrupt()
		b.turnEnd()
		if end, _ := b.turn("go on"); end.Text != "on" || !strings.Contains(string(lastRequest(srv).Raw), "I search.") {
			t.Fatalf("%s: %+v\n%s", id, end, lastRequest(srv).Raw)
		}
	}
}

// So does a search that the provider paused and that could not be continued.
func TestAPausedSearchThatCannotGoOnLeavesAValidHistory(t *testing.T) {
	t.Parallel()
	b, srv := polyglot(t, "claude-opus-5-5", []tools.Tool{fetching()}, searching, modeltest.Chunks(
		`{"type":"message_start","message":{"model":"claude-opus-5-5","usage":{"input_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"I search."}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`,
	), modeltest.Error(401, "authentication_error", "no"), modeltest.Text("on"))
	b.turn("go")
	if raw := string(lastRequest(srv).Raw); !strings.Contains(raw, "srvtoolu_1") {
		t.Fatalf("it does not go on: %s", raw)
	}
	end, _ := b.turn("go on")
	if raw := string(lastRequest(srv).Raw); end.Text != "on" || !strings.Contains(raw, "I search.") || strings.Contains(raw, "srvtoolu_1") {
		t.Errorf("%+v\n%s", end, raw)
	}
}
