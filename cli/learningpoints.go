package cli

import (
	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/skills"
	"jcode/tools"
	"jcode/tools/command"
)

// extension returns what it adds to jcode.
func (l *learning) extension() core.Extension {
	return core.Extension{Begin: l.begin, Refresh: l.refresh, Sections: l.sections, Own: l.own(), Agents: l.agents(), Inert: l.inert, Wake: l.wake, Panels: l.panels}
}

// own is a point of the extension.
func (l *learning) own() agent.Extension {
	e := l.agents()
	e.Before, e.SkillGiven, e.TurnEnded = l.before, l.given, func(event.TurnEnd) { l.turnEnded() }
	return e
}

// agents is a point of the extension.
func (l *learning) agents() agent.Extension {
	return agent.Extension{Loaded: l.restored, Compacted: l.compacted}
}

// begin keeps skills and commands up to date until the app closes. A single run checks the disk before each
// step, which is enough.
func (l *learning) begin() {
	if l.flags.once() {
		return
	}
	l.onClose(skills.Watch(l.skills, l.files, func(c skills.Change) {
		l.board.Say(event.LevelInfo, "commands: %s", c)
	}))
}

// refresh is a point of the extension.
func (l *learning) refresh() {
	l.skills.Reload()
	l.files.Reload()
}

// wake is a point of the extension: a name may now be the project's. Skills and commands check trust themselves when
// they are used.
func (l *learning) wake(items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustSkill, tools.TrustCommand)) > 0 {
		l.skills.Reload()
		l.files.Reload()
		l.sayReplaced()
	}
	return nil
}

// inert is a point of the extension.
func (l *learning) inert() []tools.TrustItem {
	return slicex.Map(l.pins(), skills.Pin.Item)
}

// panels is a point of the extension.
func (l *learning) panels() []command.Panel {
	if l.flags.NoSkills {
		return nil
	}
	return []command.Panel{skillActions{l.skills, l.places, l.paths.File()}.panel()}
}
