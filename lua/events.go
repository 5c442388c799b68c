package lua

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
	"jcode/tools/command"
)

// maxEventText bounds the text of a tool_result event.
const maxEventText = 64 << 10

// handler is the n-th handler of an event in a script, from 1.
type handler struct {
	*script
	n int
}

// handlers returns the handlers of an event in the order in which they run.
func (r *Room) handlers(event string) []handler {
	var list []handler
	for _, s := range r.scripts() {
		s.mu.Lock()
		for n := range s.live.events[event] {
			list = append(list, handler{s, n + 1})
		}
		s.mu.Unlock()
	}
	return list
}

// mailOf returns the work of the handler for one event.
func (h handler) mailOf(ctx context.Context, event string, table *wire.Object) *mail {
	limit := cmp.Or(h.around.opts.eventLimit, eventLimit)
	return &mail{
		ctx: ctx, phase: phaseEvent, caller: h.around.standing(), patience: max(eventPatience, limit),
		job: pool.Job{
			Msg:   wire.Message{Type: wire.TypeEvent, Name: event, N: int64(h.n), Value: table, Limits: wire.Limits{Instructions: eventSteps, Heap: pool.HeapGrowth}},
			Limit: limit,
		},
	}
}

// emit delivers an informational event without waiting for its handlers.
func (r *Room) emit(event string, table *wire.Object, except string) {
	for _, h := range r.handlers(event) {
		if h.owner == except {
			continue
		}
		select {
		case h.events <- h.mailOf(r.ctx, event, table):
		default:
			r.around.logs.add(h.id, "warn", "too many events wait: "+event+" is dropped")
		}
	}
}

// SessionStart notifies scripts that a session began or was resumed.
func (r *Room) SessionStart(session, cwd string, resumed bool) {
	r.emit("session_start", wire.NewObject("session", session, "cwd", cwd, "resumed", resumed), "")
}

// Prompt notifies scripts of a prompt.
func (r *Room) Prompt(prompt string) { r.emit("prompt", wire.NewObject("text", prompt), "") }

// MCPState notifies scripts that an MCP server's state changed.
func (r *Room) MCPState(st MCPStatus) { r.emit("mcp_state", statusTable(st), "") }

// TurnEnd notifies scripts that a turn ended, with the number of the model's calls in it, which
// the hook has counted.
func (r *Room) TurnEnd(turn int, stoppedBy string) {
	n := float64(r.turnCalls.Swap(0))
	r.emit("turn_end", wire.NewObject("turn", float64(turn), "tool_calls", n, "stopped_by", stoppedBy), "")
}

// Hook returns a hook for the dispatcher that calls the handlers of tool_call and tool_result.
func (r *Room) Hook() tools.Hook { return hook{r} }

type hook struct{ room *Room }

// BeforeCall calls every handler in turn. A handler that fails or takes too long is reported, and
// the call continues.
func (k hook) BeforeCall(ctx context.Context, call tools.Call) tools.Verdict {
	origin := "model"
	if call.Caller.Origin == tools.OriginScript {
		origin = "script"
	}
	current := call.Arguments
	var args json.RawMessage
	var editors []string
	for _, h := range k.room.handlers("tool_call") {
		if inChain(ctx, h.fqn) {
			continue // it is busy with the call from which this one comes
		}
		answer := h.ask(ctx, call.Name, origin, current)
		by := "plugin " + h.id
		if reason := answer.String("refuse"); reason != "" {
			return tools.Verdict{Refuse: reason, By: by}
		}
		edited, ok := answer.Get("args").(*wire.Object)
		if !ok {
			continue
		}
		raw, err := wire.EncodeJSON(edited, false)
		if err != nil {
			k.room.around.notice("warn", fmt.Sprintf("lua %s: tool_call: %v", h.id, err))
			continue
		}
		current, args = raw, raw
		if !slices.Contains(editors, by) {
			editors = append(editors, by)
		}
	}
	return tools.Verdict{Arguments: args, By: strings.Join(editors, ", ")}
}

// ask runs a handler of tool_call and returns its result if that is a table.
func (h handler) ask(ctx context.Context, name, origin string, args json.RawMessage) *wire.Object {
	v, err := wire.DecodeJSON(args)
	if err != nil {
		v = &wire.Object{}
	}
	msg, fail := h.send(h.mailOf(ctx, "tool_call", wire.NewObject("name", name, "args", v, "origin", origin)))
	if fail != nil {
		if fail.Kind != tools.KindCancelled {
			h.around.notice("warn", fmt.Sprintf("lua %s: tool_call: %s", h.id, fail.Text))
		}
		return nil
	}
	first, _ := results(msg.Value)
	answer, _ := first.(*wire.Object)
	return answer
}

// AfterCall calls the handlers of tool_result.
func (k hook) AfterCall(call tools.Call, out tools.Outcome) {
	if call.Caller.Origin == tools.OriginModel {
		k.room.turnCalls.Add(1)
	}
	if len(k.room.handlers("tool_result")) == 0 {
		return
	}
	table := wire.NewObject("name", call.Name, "ok", !out.Result.Failed, "duration_ms", float64(out.Duration.Milliseconds()))
	if out.Result.Failed {
		table.Set("error", text.Cut(out.Result.Text, maxEventText))
	}
	table.Set("text", text.Cut(out.Result.Text, maxEventText))
	k.room.emit("tool_result", table, call.Caller.Owner)
}

// List returns the slash commands of scripts. It implements command.Source.
func (r *Room) List() []command.Command {
	var out []command.Command
	for _, s := range r.scripts() {
		s.mu.Lock()
		for _, c := range s.live.commands {
			origin := "lua plugin " + s.id
			if s.env == wire.EnvStartup {
				origin = "startup.lua"
			}
			out = append(out, command.Command{
				Name: c.name, Description: c.description, Hint: c.hint, Origin: origin,
				Run: func(ctx context.Context, args string) (command.Outcome, error) {
					return s.runCommand(ctx, c.name, args)
				},
			})
		}
		s.mu.Unlock()
	}
	return out
}

func (s *script) runCommand(ctx context.Context, name, args string) (command.Outcome, error) {
	msg, fail := s.send(&mail{ctx: ctx, caller: s.around.standing(), job: pool.Job{Msg: wire.Message{Type: wire.TypeCommand, Name: name, Text: args}, Limit: commandLimit}})
	if fail != nil {
		return command.Outcome{}, fmt.Errorf("/%s: %w", name, fail)
	}
	first, why := results(msg.Value)
	switch v := first.(type) {
	case nil:
		if why != nil {
			return command.Outcome{}, fmt.Errorf("/%s: %s", name, resultText(why))
		}
		return command.Outcome{}, nil
	case *wire.Object:
		if ok, isBool := v.Get("ok").(bool); isBool && !ok {
			return command.Outcome{}, fmt.Errorf("/%s: %s", name, v.String("error"))
		}
		if p, ok := v.Get("prompt").(string); ok {
			return command.Outcome{Draft: p}, nil
		}
	}
	return command.Outcome{Notice: text.Clean(resultText(first))}, nil
}
