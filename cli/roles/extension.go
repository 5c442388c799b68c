package rolescli

import (
	"jcode/cli/core"
	"jcode/tools"
	"jcode/tools/command"
)

// Extension watches role files, and tells the model which agents it can start (delegates). reaching are the roles that
// wait for trust; again requests a reread of the roles; a single run (once) watches nothing.
func Extension(watch Watch, actions Actions, reaching func() []tools.TrustItem, delegates func(scope *tools.Scope) string, again chan<- struct{}, once bool) core.Extension {
	e := roleExtension{watch, once, again, delegates, actions, reaching}
	return core.Extension{Begin: e.begin, Refresh: e.refresh, Sections: e.sections, Inert: e.inert, Panels: e.panels}
}

type roleExtension struct {
	watch     Watch
	once      bool
	again     chan<- struct{}
	delegates func(scope *tools.Scope) string
	roles     Actions
	reaching  func() []tools.TrustItem
}

func (e roleExtension) begin() {
	if !e.once {
		e.watch.begin()
	}
}

func (e roleExtension) refresh() {
	select {
	case e.again <- struct{}{}:
	default: // the roles are not watched, or a reread is already requested
	}
}

func (e roleExtension) sections(_ string, scope *tools.Scope) []string {
	return []string{e.delegates(scope)}
}

func (e roleExtension) inert() []tools.TrustItem { return e.reaching() }
func (e roleExtension) panels() []command.Panel  { return []command.Panel{e.roles.panel()} }
