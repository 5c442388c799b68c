package lua

import (
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

// listeners returns the scripts that handle an event, with their number of handlers.
func (r *Room) listeners(event string) (list []*script, handlers []int) {
	for _, s := range r.scripts() {
		s.mu.Lock()
		n := s.live.events[event]
		s.mu.Unlock()
		if n > 0 {
			list, handlers = append(list, s), append(handlers, n)
		}
	}
	return list, handlers
}

func (s *script) eventMail(ctx context.Context, event string, n int, table *wire.Object) *mail {
	limit := s.room.opts.eventLimit
	if limit == 0 {
		limit = eventLimit
	}
	return &mail{
		ctx: ctx, phase: phaseEvent, caller: s.room.standing(), patience: max(eventPatience, limit),
		job: pool.Job{
			Msg:   wire.Message{Type: wire.TypeEvent, Name: event, N: int64(n), Value: table, Limits: wire.Limits{Instructions: eventSteps, Heap: pool.HeapGrowth}},
			Limit: limit,
		},
	}
}

// emit delivers an informational event without waiting for its handlers.
func (r *Room) emit(event string, table *wire.Object, except string) {
	list, handlers := r.listeners(event)
	for i, s := range list {
		if s.owner == except {
			continue
		}
		for n := 1; n <= handlers[i]; n++ {
			select {
			case s.events <- s.eventMail(r.ctx, event, n, table):
			default:
				r.logs.add(s.id, "warn", "too many events wait: "+event+" is dropped")
			}
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
func (h hook) BeforeCall(ctx context.Context, call tools.Call) tools.Verdict {
	list, handlers := h.room.listeners("tool_call")
	if len(list) == 0 {
		return tools.Verdict{}
	}
	origin := "model"
	if call.Caller.Origin == tools.OriginScript {
		origin = "script"
	}
	current := call.Arguments
	var args json.RawMessage
	var editors []string
	for i, s := range list {
		if inChain(ctx, s.fqn) {
			continue // it is busy with the call from which this one comes
		}
		for n := 1; n <= handlers[i]; n++ {
			answer := h.ask(ctx, s, n, call.Name, origin, current)
			if reason := answer.String("refuse"); reason != "" {
				return tools.Verdict{Refuse: reason, By: "plugin " + s.id}
			}
			edited, ok := answer.Get("args").(*wire.Object)
			if !ok {
				continue
			}
			raw, err := wire.EncodeJSON(edited, false)
			if err != nil {
				h.room.notice("warn", fmt.Sprintf("lua %s: tool_call: %v", s.id, err))
				continue
			}
			current, args = raw, raw
			if !slices.Contains(editors, "plugin "+s.id) {
				editors = append(editors, "plugin "+s.id)
			}
		}
	}
	return tools.Verdict{Arguments: args, By: strings.Join(editors, ", ")}
}

// ask runs one handler and returns its result if that is a table.
func (h hook) ask(ctx context.Context, s *script, n int, name, origin string, args json.RawMessage) *wire.Object {
	v, err := wire.DecodeJSON(args)
	if err != nil {
		v = &wire.Object{}
	}
	msg, fail := s.send(s.eventMail(ctx, "tool_call", n, wire.NewObject("name", name, "args", v, "origin", origin)))
	if fail != nil {
		if fail.Kind != tools.KindCancelled {
			h.room.notice("warn", fmt.Sprintf("lua %s: tool_call: %s", s.id, fail.Text))
		}
		return nil
	}
	list, _ := msg.Value.([]any)
	if len(list) == 0 {
		return nil
	}
	answer, _ := list[0].(*wire.Object)
	return answer
}

// AfterCall calls the handlers of tool_result.
func (h hook) AfterCall(call tools.Call, out tools.Outcome) {
	if call.Caller.Origin == tools.OriginModel {
		h.room.turnCalls.Add(1)
	}
	if list, _ := h.room.listeners("tool_result"); len(list) == 0 {
		return
	}
	table := wire.NewObject("name", call.Name, "ok", !out.Result.Failed, "duration_ms", float64(out.Duration.Milliseconds()))
	if out.Result.Failed {
		table.Set("error", text.Cut(out.Result.Text, maxEventText))
	}
	table.Set("text", text.Cut(out.Result.Text, maxEventText))
	h.room.emit("tool_result", table, call.Caller.Owner)
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
	msg, fail := s.send(&mail{ctx: ctx, caller: s.room.standing(), job: pool.Job{Msg: wire.Message{Type: wire.TypeCommand, Name: name, Text: args}, Limit: commandLimit}})
	if fail != nil {
		return command.Outcome{}, fmt.Errorf("/%s: %w", name, fail)
	}
	list, _ := msg.Value.([]any)
	if len(list) == 0 {
		return command.Outcome{}, nil
	}
	switch v := list[0].(type) {
	case nil:
		if len(list) > 1 && list[1] != nil {
			return command.Outcome{}, fmt.Errorf("/%s: %s", name, resultText(list[1]))
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
	return command.Outcome{Notice: text.Clean(resultText(list[0]))}, nil
}

// commandOwner returns who owns a slash command already, "" if nobody.
func (r *Room) commandOwner(name string, except *script) string {
	for _, s := range r.scripts() {
		if s == except || s.owner == except.owner {
			continue
		}
		s.mu.Lock()
		taken := slices.ContainsFunc(s.live.commands, func(c *luaCommand) bool { return c.name == name })
		s.mu.Unlock()
		if taken {
			return s.owner
		}
	}
	if r.opts.CommandTaken != nil && r.opts.CommandTaken(name) {
		return "jcode"
	}
	return ""
}
