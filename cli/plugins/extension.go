package pluginscli

import (
	"errors"

	"jcode/agent"
	"jcode/cli/console"
	"jcode/cli/core"
	"jcode/tools"
	"jcode/tools/command"
)

// Extension applies changes of plugins; once says that it is a single run, which watches nothing.
func Extension(life Life, home Home, std console.Streams, once bool) core.Extension {
	return pluginExtension{life, actions{home, std, life.Look}, once}.extension()
}

type pluginExtension struct {
	life    Life
	actions actions
	once    bool // a single run watches nothing
}

func (e pluginExtension) extension() core.Extension {
	return core.Extension{Begin: e.begin, Own: e.own(), Inert: e.inert, Wake: e.wake, Panels: e.panels}
}

func (e pluginExtension) begin() {
	if !e.once {
		e.life.watch()
	}
}

func (e pluginExtension) own() agent.Extension {
	return agent.Extension{Before: e.life.before}
}

func (e pluginExtension) inert() []tools.TrustItem { return e.life.Bundles.changed() }

func (e pluginExtension) wake(items []tools.TrustItem) error {
	var errs []error
	for _, item := range core.OfKind(items, tools.TrustBundle) {
		errs = append(errs, e.life.Bundles.store.Accept(item.Name, item.Hash))
		e.life.Look()
	}
	return errors.Join(errs...)
}

func (e pluginExtension) panels() []command.Panel {
	return []command.Panel{e.actions.panel()}
}
