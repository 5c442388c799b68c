package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/tools"
)

// plainTool is a tool of jcode's own.
type plainTool struct {
	spec tools.Spec
	run  func(ctx context.Context, call tools.Call) (tools.Result, error)
}

func (t plainTool) Spec() tools.Spec { return t.spec }
func (t plainTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	return t.run(ctx, call)
}

// askingGate asks for everything that is not read-only.
type askingGate struct{}

func (askingGate) Check(ctx context.Context, req tools.GateRequest) tools.Decision {
	if req.Spec.ReadOnly {
		return tools.Decision{Allow: true, Silent: true}
	}
	if req.Call.Caller.Asker == nil {
		return tools.Decision{Reason: "denied: there is no one to ask"}
	}
	a, err := req.Call.Caller.Asker.Ask(ctx, tools.Question{Title: "Run a command", Command: "rm x", Diff: longDiff(), Options: []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "once"}, {Scope: tools.AnswerNo, Label: "no"}}})
	return tools.Decision{Allow: err == nil && a.Scope == tools.AnswerOnce, By: tools.ByUser, Reason: "denied by user"}
}

// longDiff returns a diff that is longer than a screen, with a recognisable last line.
func longDiff() string { return strings.Repeat("+a line of a new file\n", 2000) + "+the last line" }

func (askingGate) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

func serveRig(t *testing.T, names []string, options *sdk.ClientOptions) (*sdk.ClientSession, func() error) {
	t.Helper()
	reg := tools.NewRegistry()
	echo := func(_ context.Context, call tools.Call) (tools.Result, error) {
		return tools.Result{Text: call.Name + " " + string(call.Arguments)}, nil
	}
	for name, readOnly := range map[string]bool{"read": true, "grep": true, "glob": true, "ls": true, "exec": false, "mcp_list": true} {
		err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, plainTool{tools.Spec{Name: name, Description: "d", ReadOnly: readOnly, Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}, echo})
		if err != nil {
			t.Fatal(err)
		}
	}
	clientIn, serverOut := io.Pipe()
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), Options{Dispatcher: &tools.Dispatcher{Registry: reg, Gate: askingGate{}}, Tools: names, Mode: tools.ModeAsk, Version: "test", In: serverIn, Out: serverOut})
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, options)
	cs, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: clientIn, Writer: clientOut}, &sdk.ClientSessionOptions{ProtocolVersion: lastAsking})
	if err != nil {
		t.Fatal(err)
	}
	return cs, func() error {
		_ = cs.Close() // the pipes end it
		_ = clientOut.Close()
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Minute):
			t.Fatal("the server did not end")
			return nil
		}
	}
}

func TestServeOffersReadOnlyToolsAndRefusesOthers(t *testing.T) {
	cs, end := serveRig(t, nil, nil)
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 4 {
		t.Fatalf("%v %v", list, err)
	}
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "read", Arguments: map[string]any{"path": "a"}})
	if err != nil || res.IsError || res.Content[0].(*sdk.TextContent).Text != `read {"path":"a"}` {
		t.Errorf("%+v %v", res, err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	cs, end = serveRig(t, []string{"exec", "*"}, nil)
	list, err = cs.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 5 {
		t.Errorf("mcp_* must be named: %v %v", list, err)
	}
	res, err = cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec"})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, "no one to ask") {
		t.Errorf("%+v %v", res, err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestServePutsQuestionsToTheClient(t *testing.T) {
	answer := "once"
	var asked string
	cs, end := serveRig(t, []string{"exec"}, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked = req.Params.Message
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
	}})
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec"})
	if err != nil || res.IsError || !strings.Contains(asked, "rm x") {
		t.Errorf("%+v %v, asked %q", res, err, asked)
	}
	if !strings.Contains(asked, longDiff()) { // what is approved is what is seen
		t.Errorf("the question holds %d bytes of a diff of %d", len(asked), len(longDiff()))
	}
	answer = "no"
	if res, err = cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec"}); err != nil || !res.IsError {
		t.Errorf("%+v %v", res, err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestServeNamesAnUnknownTool(t *testing.T) {
	err := Run(t.Context(), Options{Dispatcher: &tools.Dispatcher{Registry: tools.NewRegistry()}, Tools: []string{"nothing"}, In: strings.NewReader(""), Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("%v", err)
	}
}

// A line that is not a message is answered with an error, and the next one is read.
func TestBadLinesOfAClientCostNothingElse(t *testing.T) {
	t.Parallel()
	reg := tools.NewRegistry()
	for _, name := range []string{"read", "grep", "glob", "ls"} {
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, plainTool{tools.Spec{Name: name, Description: "d", ReadOnly: true, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}, nil}); err != nil {
			t.Fatal(err)
		}
	}
	input, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.Background(), Options{Dispatcher: &tools.Dispatcher{Registry: reg, Gate: askingGate{}}, Mode: tools.ModeAsk, Version: "test", In: input, Out: out})
		_ = out.Close()
	}()
	in := "hello\n{\"jsonrpc\":\n\n\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
		`{"id":7}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\n"
	go func() { _, _ = io.WriteString(client, in) }() // until the other end is closed
	var codes, ids []string
	for lines := bufio.NewScanner(answers); lines.Scan(); {
		line := lines.Text()
		var m struct {
			ID    json.RawMessage `json:"id"`
			Error *struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if m.Error != nil {
			codes = append(codes, fmt.Sprint(m.Error.Code))
		} else if m.ID != nil {
			if ids = append(ids, string(m.ID)); len(ids) == 2 {
				_ = client.Close()
			}
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if strings.Join(codes, " ") != "-32700 -32700 -32600" || strings.Join(ids, " ") != "1 2" {
		t.Errorf("errors %v, answers to %v", codes, ids)
	}
}
