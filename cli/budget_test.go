package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"jcode/cli"
	"jcode/cli/console"
	"jcode/internal/testkit/modeltest"
)

// The budgets of docs/performance.md that are counts hold on any machine. The counts are reported as attributes,
// which the command bench reads.

func TestFirstRequestIsSmallAndTheOnlyOne(t *testing.T) {
	t.Parallel()
	srv := modeltest.New(t, modeltest.Text("Hello."))
	if out, err := jcode(t.Context(), t, shortDir(t), shortDir(t), srv.URL(), "-p", "hello").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	requests := srv.Requests()
	if len(requests) != 1 {
		t.Fatalf("one prompt made %d requests", len(requests))
	}
	t.Attr("requests", strconv.Itoa(len(requests)))
	t.Attr("bytes", strconv.Itoa(len(requests[0].Raw)))
	if n := len(requests[0].Raw); n > 9<<10 {
		t.Errorf("the request has %d bytes, at most 9 KiB are allowed", n)
	}
}

func TestRoundsOfToolsCostOneRequestEachOnOneConnection(t *testing.T) {
	// On a busy machine the end of an answer may arrive too late for its connection to be reused. A program that
	// never reuses connections always needs one per round.
	for try := 1; connectionsOfRounds(t) > 2; try++ {
		if try == 10 {
			t.Fatal("more than two connections were opened, ten times in a row")
		}
	}
}

// connectionsOfRounds runs ten rounds of tools, checks that each costs one request, and returns
// the connections they took.
func connectionsOfRounds(t *testing.T) int {
	t.Helper()
	const rounds = 10
	n := 0
	srv := modeltest.New(t, modeltest.Func(func(modeltest.Request) modeltest.Reply {
		if n++; n > rounds {
			return modeltest.Text("Done.")
		}
		return modeltest.Text("").WithCalls(modeltest.Call{ID: fmt.Sprint("c", n), Name: "glob", Args: fmt.Sprintf(`{"pattern":"*%d"}`, n)})
	}).Forever())
	if out, err := jcode(t.Context(), t, t.TempDir(), t.TempDir(), srv.URL(), "-p", "look").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Attr("requests", strconv.Itoa(len(srv.Requests())))
	t.Attr("connections", strconv.Itoa(srv.Connections()))
	if got := len(srv.Requests()); got != rounds+1 {
		t.Errorf("%d rounds made %d requests", rounds, got)
	}
	return srv.Connections()
}

func TestSchemasAndSystemPromptAreShort(t *testing.T) {
	t.Parallel()
	out, err := jcode(t.Context(), t, t.TempDir(), t.TempDir(), "http://127.0.0.1:9/v1", "tools", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Total int `json:"total_tokens"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	t.Attr("tokens", strconv.Itoa(list.Total))
	if list.Total == 0 || list.Total >= 4000 {
		t.Errorf("builtin schemas and system prompt have %d tokens, fewer than 4,000 are allowed", list.Total)
	}
}

// writes counts the writes to a stream.
type writes struct {
	n int
	bytes.Buffer
}

func (w *writes) Write(p []byte) (int, error) {
	w.n++
	return w.Buffer.Write(p)
}

// streamed runs a prompt in this process whose answer arrives in n deltas. It returns the bytes allocated and
// the number of writes to the output.
func streamed(t *testing.T, n int) (allocs float64, written int) {
	t.Helper()
	var body bytes.Buffer
	for range n {
		body.WriteString(`data: {"choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n")
	}
	body.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(body.Bytes()) //nolint:errcheck // the test in the client fails in that case
	}))
	defer srv.Close()
	home := t.TempDir()
	env := map[string]string{"JCODE_HOME": home, "HOME": home, "OPENAI_BASE_URL": srv.URL + "/v1", "OPENAI_API_KEY": "sk-test-key", "JCODE_MODEL": "m"}
	for k, v := range env {
		t.Setenv(k, v)
	}
	var out writes
	var errs bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code := cli.Main([]string{"-C", t.TempDir(), "-p", "--no-mcp", "--no-lua", "--no-skills", "go"}, cli.Streams{Streams: console.Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(k string) string { return env[k] },
	}})
	runtime.ReadMemStats(&after)
	if code != 0 || strings.Count(out.String(), "word") != n {
		t.Fatalf("exit %d, %d bytes: %s", code, out.Len(), errs.String())
	}
	return float64(after.Mallocs - before.Mallocs), out.n
}

func TestDeltaAllocatesLittleAndAPipeGetsTheAnswerAtOnce(t *testing.T) {
	t.Chdir(t.TempDir()) // -C changes the working folder; this restores it
	few, _ := streamed(t, 1000)
	many, written := streamed(t, 21000)
	perDelta := max(0, many-few) / 20000
	t.Logf("%.2f allocations for a delta (%.0f for 1,000, %.0f for 21,000), %d writes", perDelta, few, many, written)
	t.Attr("allocations", fmt.Sprintf("%.3f", perDelta))
	t.Attr("writes", strconv.Itoa(written))
	if perDelta > 1 {
		t.Errorf("a delta costs %.1f allocations from the socket to the output", perDelta)
	}
	if written > 3 {
		t.Errorf("the answer was written in %d pieces", written)
	}
}
