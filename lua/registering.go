package lua

import (
	"fmt"
	"slices"
	"strings"

	"jcode/lua/manifest"
	"jcode/lua/wire"
	"jcode/tools"
)

// publish replaces the script's registrations with the staged ones, in one step.
func (s *script) publish() {
	s.mu.Lock()
	if s.stage == nil {
		s.mu.Unlock()
		return
	}
	s.live = *s.stage
	s.stage = nil
	list := make([]tools.Tool, len(s.live.intents))
	for i, in := range s.live.intents {
		list[i] = &intentTool{intent: in, around: s.around}
	}
	s.mu.Unlock()
	for _, err := range s.around.opts.Registry.Replace(s.owner, tools.RankPlugin, list) {
		s.around.notice("warn", "lua "+s.id+": "+err.Error())
	}
}

// staged returns the intents that are registered but not published.
func (s *script) staged() []*intent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stage == nil {
		return nil
	}
	return slices.Clone(s.stage.intents)
}

// isCommandName reports whether s is ^[a-z][a-z0-9_-]{0,31}$.
func isCommandName(s string) bool {
	return s != "" && len(s) <= 32 && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// registering returns what the script registers to: what is not published yet, otherwise what is. The caller
// holds the lock.
func (s *script) registering() *registered {
	if s.stage != nil {
		return s.stage
	}
	return &s.live
}

// mayRegister returns the script if it may register now: the startup script at any time, a
// plugin in init().
func (s *principal) mayRegister() (*script, *wire.Object) {
	if s.script == nil || s.phase == phaseRun && s.env == wire.EnvPlugin {
		return nil, refusal(tools.KindPermission, "permission denied: only available in init()")
	}
	return s.script, nil
}

// registerIntent implements jcode.register_intent.
func (s *principal) registerIntent(def *wire.Object) *wire.Object {
	sc, no := s.mayRegister()
	if no != nil {
		return no
	}
	i, err := parseIntent(def, sc.fqn)
	if err == nil && !manifest.IsToolName(i.name) {
		err = fmt.Errorf("register_intent: %q is not a tool name: %s", i.name, manifest.ToolNames)
	}
	if err != nil {
		return refusal(tools.KindInvalidArgs, "%v", err)
	}
	if err := s.around.claimFQN(sc, i); err != nil {
		return refusal(tools.KindPermission, "%v", err)
	}
	i.hash = sc.src.hash
	i.stateful = sc.src.usesState()
	if holder, ok, _ := s.around.opts.Registry.Snapshot(nil).Lookup(i.name); ok && holder.Owner != sc.owner && holder.Rank <= tools.RankPlugin {
		return refusal(tools.KindInvalidArgs, "tool %s: already registered by %s", i.name, holder.Owner)
	}
	sc.mu.Lock()
	list := sc.registering()
	taken := slices.ContainsFunc(list.intents, func(o *intent) bool { return o.name == i.name })
	full := len(list.intents) >= maxRegistered
	sc.mu.Unlock()
	if full {
		return refusal(tools.KindLimit, "a script registers at most %d intents", maxRegistered)
	}
	if taken {
		return refusal(tools.KindInvalidArgs, "tool %s: already registered by %s", i.name, sc.owner)
	}
	// The registry checks names and schemas; intents of the startup script are visible at once.
	if sc.env == wire.EnvStartup {
		if err := s.around.opts.Registry.Register(sc.owner, tools.RankPlugin, &intentTool{intent: i, around: s.around}); err != nil {
			return refusal(tools.KindInvalidArgs, "%v", err)
		}
	}
	sc.mu.Lock()
	list.intents = append(list.intents, i)
	sc.mu.Unlock()
	return wire.NewObject("ok", true)
}

// listen implements jcode.on.
func (s *principal) listen(event string) *wire.Object {
	sc, no := s.mayRegister()
	if no != nil {
		return no
	}
	if !slices.Contains(wire.Events[:], event) {
		return refusal(tools.KindInvalidArgs, "unknown event: %s", event)
	}
	if !s.all && !slices.Contains(s.perms.Events, event) {
		return refusal(tools.KindPermission, "%s with %q", s.declareText("events"), event)
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	list := sc.registering()
	if list.events == nil {
		list.events = map[string]int{}
	}
	if list.events[event] >= maxRegistered {
		return refusal(tools.KindLimit, "a script has at most %d handlers for an event", maxRegistered)
	}
	list.events[event]++
	return wire.NewObject("ok", true)
}

// registerCommand implements jcode.command.
func (s *principal) registerCommand(name string, def *wire.Object) *wire.Object {
	sc, no := s.mayRegister()
	if no != nil {
		return no
	}
	if !isCommandName(name) {
		return refusal(tools.KindInvalidArgs, "command name %q must match ^[a-z][a-z0-9_-]{0,31}$", name)
	}
	if owner := s.around.commandOwner(name, sc); owner != "" {
		return refusal(tools.KindInvalidArgs, "command %s: already registered by %s", name, owner)
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	list := sc.registering()
	if slices.ContainsFunc(list.commands, func(c *luaCommand) bool { return c.name == name }) {
		return refusal(tools.KindInvalidArgs, "command %s: already registered by %s", name, sc.owner)
	}
	if len(list.commands) >= maxRegistered {
		return refusal(tools.KindLimit, "a script has at most %d commands", maxRegistered)
	}
	list.commands = append(list.commands, &luaCommand{name: name, description: def.String("description"), hint: def.String("args")})
	return wire.NewObject("ok", true)
}
