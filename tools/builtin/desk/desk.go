package desk

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"jcode/tools"
)

//go:embed todo.md
var todoText string

//go:embed ask.md
var askText string

//go:embed task.md
var taskText string

// Tools returns the tools that work on the conversation itself: todo, ask, task and agent.
func Tools() []tools.Tool { return []tools.Tool{todo{}, ask{}, task{}, agents{}} }

// decodeAtDesk decodes the arguments of a call, which must come from inside a conversation.
func decodeAtDesk(call tools.Call, args any) (tools.Desk, error) {
	if call.Caller.Desk == nil {
		return nil, tools.Errorf(tools.KindPermission, "permission denied: %s works only inside a conversation", call.Name)
	}
	return call.Caller.Desk, call.Decode(args)
}

// todo sets the plan that the person sees.
type todo struct{}

func (todo) Spec() tools.Spec {
	return tools.Spec{
		Name: "todo", Description: strings.TrimSpace(todoText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Serial: "todo",
		Parameters: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","done"]}},"required":["text","status"]}}},"required":["items"]}`),
		Check:      json.RawMessage(`{"type":"object","properties":{"items":{"type":"array"}},"required":["items"]}`),
		Aliases:    map[string]string{"todos": "items", "plan": "items"},
	}
}

func (todo) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var args struct{ Items []json.RawMessage }
	desk, err := decodeAtDesk(call, &args)
	if err != nil {
		return tools.Result{}, err
	}
	items := make([]tools.TodoItem, len(args.Items))
	for i, raw := range args.Items {
		if items[i], err = planItem(raw); err != nil {
			return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "items[%d]: %w; the plan is as it was", i, err)
		}
	}
	if err := desk.SetTodo(ctx, items); err != nil {
		return tools.Result{}, fmt.Errorf("keep the plan: %w", err)
	}
	done := 0
	for _, item := range items {
		if item.Status == "done" {
			done++
		}
	}
	line := fmt.Sprintf("%d of %d done", done, len(items))
	return tools.Result{Text: "Plan updated: " + line + ".", Display: tools.Display{Summary: line}}, nil
}

// planItem reads one item of a plan, also in the fields and words that other agents have for it.
func planItem(raw json.RawMessage) (tools.TodoItem, error) {
	var in struct{ Text, Content, Step, Title, Task, Description, ActiveForm, Status string }
	if err := json.Unmarshal(raw, &in); err != nil {
		if json.Unmarshal(raw, &in.Text) != nil {
			return tools.TodoItem{}, errors.New("it must be an object with text and status")
		}
	}
	out := tools.TodoItem{Text: cmp.Or(in.Text, in.Content, in.Step, in.Title, in.Task, in.Description, in.ActiveForm)}
	switch strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(in.Status)) {
	case "", "pending", "todo", "open", "not_started":
		out.Status = "pending"
	case "in_progress", "active", "doing":
		out.Status = "in_progress"
	case "done", "completed", "complete", "cancelled":
		out.Status = "done"
	default:
		return out, fmt.Errorf("status must be pending, in_progress or done, not %q", in.Status)
	}
	if strings.TrimSpace(out.Text) == "" {
		return out, errors.New("text is missing")
	}
	return out, nil
}

// ask asks the person a question.
type ask struct{}

func (ask) Spec() tools.Spec {
	return tools.Spec{
		Name: "ask", Description: strings.TrimSpace(askText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Serial: "ask",
		Parameters: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"},"description":"Answers to choose from"}},"required":["question"]}`),
		Aliases:    map[string]string{"questions": "question"},
	}
}

func (ask) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var args struct {
		Question string
		Options  []string
	}
	desk, err := decodeAtDesk(call, &args)
	if err != nil {
		return tools.Result{}, err
	}
	reply, err := desk.AskPerson(ctx, call.Caller.Label, args.Question, args.Options)
	if ctx.Err() != nil {
		return tools.Result{}, ctx.Err()
	}
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindDenied, "%w: decide yourself, and say in your answer what you assumed", err)
	}
	if strings.TrimSpace(reply) == "" {
		reply = "(the user gave no answer)"
	}
	return tools.Result{Text: reply, Display: tools.Display{Summary: reply}, Data: map[string]any{"answer": reply}}, nil
}

// task starts a sub-agent.
type task struct{}

func (task) Spec() tools.Spec {
	return tools.Spec{
		// The sub-agent's calls pass the gate one by one, so the call itself needs no approval and
		// several may run at once.
		Name: "task", Description: strings.TrimSpace(taskText), Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true,
		Parameters: json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","description":"The whole assignment"},"name":{"type":"string","description":"Such as fix-parser"},"role":{"type":"string","description":"Role to work in; its variables go into an object variables"},"background":{"type":"boolean","description":"Answer at once and let it work on"},"isolation":{"type":"string","enum":["none","worktree"],"description":"worktree: its own copy of the files, merged later; for changes in parallel"}},"required":["prompt"]}`),
		Check:      json.RawMessage(`{"type":"object","properties":{"prompt":{"type":"string","description":"The whole assignment: the sub-agent knows nothing else"},"name":{"type":"string","description":"Such as fix-parser"},"role":{"type":"string","description":"Role to work in"},"variables":{"type":"object","additionalProperties":{"type":"string"},"description":"Values of the role's variables, by name"},"model":{"type":"string","description":"Model to work with"},"background":{"type":"boolean","description":"Answer at once and let it work on; see the tool agent"},"isolation":{"type":"string","enum":["none","worktree"],"description":"worktree: a copy of the files of its own, merged later"},"uncommitted":{"type":"boolean","description":"With worktree: take uncommitted changes along"},"max_steps":{"type":"integer","minimum":1}},"required":["prompt"]}`),
	}
}

func (task) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var args tools.Task
	desk, err := decodeAtDesk(call, &args)
	if err != nil {
		return tools.Result{}, err
	}
	return desk.RunTask(ctx, call, args)
}
