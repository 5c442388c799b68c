package mcp

import (
	"context"
	"encoding/json"
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
	a, err := req.Call.Caller.Asker.Ask(ctx, tools.Question{Title: "Run a command", Command: "rm x", Options: []tools.AnswerOption{{Scope: tools.AnswerOnce, Label: "once"}, {Scope: tools.AnswerNo, Label: "no"}}})
	return tools.Decision{Allow: err == nil && a.Scope == tools.AnswerOnce, By: tools.ByUser, Reason: "denied by user"}
}

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
		ended <- Serve(context.Background(), ServeOptions{Dispatcher: &tools.Dispatcher{Registry: reg, Gate: askingGate{}}, Tools: names, Mode: tools.ModeAsk, Version: "test", In: serverIn, Out: serverOut})
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, options)
	cs, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: clientIn, Writer: clientOut}, &sdk.ClientSessionOptions{ProtocolVersion: classicProtocol})
	if err != nil {
		t.Fatal(err)
	}
	return cs, func() error {
		_ = cs.Close() // the pipes end it
		_ = clientOut.Close()
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			t.Fatal("the server did not end")
			return nil
		}
	}
}

func TestServeOffersReadOnlyToolsAndRefusesOthers(t *testing.T) { // C14
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

func TestServePutsQuestionsToTheClient(t *testing.T) { // C14
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
	answer = "no"
	if res, err = cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec"}); err != nil || !res.IsError {
		t.Errorf("%+v %v", res, err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

func TestServeNamesAnUnknownTool(t *testing.T) {
	err := Serve(t.Context(), ServeOptions{Dispatcher: &tools.Dispatcher{Registry: tools.NewRegistry()}, Tools: []string{"nothing"}, In: strings.NewReader(""), Out: io.Discard})
	if err == nil || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("%v", err)
	}
}
