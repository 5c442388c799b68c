package skillscli

import (
	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/skills"
	"jcode/tools"
	"jcode/tools/command"
)

// Extension returns what it adds to jcode.
func (l *Guidance) Extension() core.Extension {
	return core.Extension{Begin: l.begin, Refresh: l.refresh, Sections: l.sections, Own: l.own(), Agents: l.Agents(), Inert: l.inert, Wake: l.wake, Panels: l.panels}
}

// own is a point of the extension.
func (l *Guidance) own() agent.Extension {
	e := l.Agents()
	e.Before, e.SkillGiven, e.TurnEnded = l.before, l.given, func(event.TurnEnd) { l.turnEnded() }
	return e
}

// Agents is a point of the extension.
func (l *Guidance) Agents() agent.Extension {
	return agent.Extension{Loaded: l.restored, Compacted: l.compacted}
}

// begin keeps skills and commands up to date until the app closes. A single run checks the disk before each
// step, which is enough.
func (l *Guidance) begin() {
	if l.opts.Once {
		return
	}
	l.opts.OnClose(skills.Watch(l.skills, l.files, func(c skills.Change) {
		l.board.Say(event.LevelInfo, "commands: %s", c)
	}))
}

// refresh is a point of the extension.
func (l *Guidance) refresh() {
	l.skills.Reload()
	l.files.Reload()
}

// wake is a point of the extension: a name may now be the project's. Skills and commands check trust themselves when
// they are used.
func (l *Guidance) wake(items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustSkill, tools.TrustCommand)) > 0 {
		l.skills.Reload()
		l.files.Reload()
		l.sayReplaced()
	}
	return nil
}

// inert is a point of the extension.
func (l *Guidance) inert() []tools.TrustItem {
	return slicex.Map(l.pins(), skills.Pin.Item)
}

// panels is a point of the extension.
func (l *Guidance) panels() []command.Panel {
	if l.opts.NoSkills {
		return nil
	}
	return []command.Panel{actions{l.skills, l.opts.Files.Places, l.opts.Settings}.panel()}
}

// pins are the permissions that the project's skills and commands ask for.
func (l *Guidance) pins() []skills.Pin {
	var out []skills.Pin
	add := func(pin skills.Pin, state skills.State, waits bool, by string) {
		if waits {
			pin.Replaces = by
		}
		if (state == skills.Active || waits) && pin.Project && pin.Asks() {
			out = append(out, pin)
		}
	}
	if !l.opts.NoSkills {
		for _, e := range l.skills.Entries() {
			add(e.Pin(), e.State, e.Waits, e.By)
		}
	}
	for _, f := range l.files.Files() {
		add(f.Pin(), f.State, f.Waits, f.By)
	}
	return out
}
