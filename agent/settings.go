package agent

import (
	"encoding/json"
	"maps"

	"jcode/session"
	"jcode/tools"
)

// settings are what a conversation works with: mode, model and role, with everything set for them. They are a value:
// what must be stored is returned as a change of the session's row.
type settings struct {
	mode   tools.Mode
	most   tools.Mode // the highest mode that may be set, "" for any
	model  Model
	chosen int             // how often the person chose a model or its settings
	sought map[string]bool // models whose window was looked up

	scope    *tools.Scope // of the role in force; nil means everything
	role     Role         // in force
	standing Role         // entered by the person; role differs from it while a message in another role is worked on
	switches int          // how often a role was entered
	own      Role         // the session's own settings, in force without a role
	entered  *Role        // a switch that the model has not been told of yet
	values   string       // of the variables of roles, as the session's row keeps them
}

// write puts what a new session's row keeps of the settings into it.
func (s *settings) write(row *session.Session) {
	row.Model, row.Mode = s.model.Name, string(s.mode)
	row.RoleName, row.RoleSnapshot, row.RoleValues = s.standing.Name, s.standing.Snapshot, s.values
}

// allowed is the mode in force: a role may allow less than the person chose.
func (s *settings) allowed() tools.Mode { return s.mode.Under(s.scope.Ceiling()) }

// setMode changes the approval mode.
func (s *settings) setMode(m tools.Mode) session.Change {
	s.mode = m.Under(s.most)
	mode := string(s.mode)
	return session.Change{Mode: &mode}
}

// setModel changes the model. Temperature and the like stay as they were set. The choice takes precedence over a
// role's model, even after the role ends.
func (s *settings) setModel(m Model) session.Change {
	s.model = m.tunedAs(s.model)
	s.own.Model = m.Name
	s.chosen++
	return session.Change{Model: &m.Name}
}

// tune changes the settings of the model. What differs becomes the session's own, so that it outlives the current
// role.
func (s *settings) tune(t Tuning) {
	if !same(t.Temperature, s.model.Temperature) {
		s.own.Temperature = t.Temperature
	}
	if !same(t.TopP, s.model.TopP) {
		s.own.TopP = t.TopP
	}
	if t.ReasoningEffort != s.model.ReasoningEffort {
		s.own.ReasoningEffort = t.ReasoningEffort
	}
	if t.MaxOutputTokens != s.model.MaxOutputTokens {
		s.own.MaxOutputTokens = t.MaxOutputTokens
	}
	s.model.Temperature, s.model.TopP, s.model.ReasoningEffort, s.model.MaxOutputTokens = t.Temperature, t.TopP, t.ReasoningEffort, t.MaxOutputTokens
	s.chosen++
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// backTo returns the model that was current before an override, updated with what the person has chosen
// since: another model, or other settings.
func (s *settings) backTo(before Model, lent string, chosen int) Model {
	switch {
	case s.chosen == chosen:
		return before
	case s.model.Name == lent:
		return before.tunedAs(s.model)
	}
	return s.model.tunedAs(before)
}

// learnWindow records the window that a provider named when it refused a request as too long. It takes
// precedence over any table.
func (s *settings) learnWindow(tokens int) {
	if tokens > 0 && (s.model.Window == 0 || tokens < s.model.Window) {
		s.model.Window = tokens
	}
}

// seekWindow returns the current model if its window is unknown and was never looked up.
func (s *settings) seekWindow() (m Model, seek bool) {
	m = s.model
	if m.Window > 0 || m.FindWindow == nil || s.sought[m.Name] {
		return m, false
	}
	if s.sought == nil {
		s.sought = map[string]bool{}
	}
	s.sought[m.Name] = true
	return m, true
}

// foundWindow takes the window that was looked up for a model.
func (s *settings) foundWindow(m Model, window int) {
	if s.model.Name == m.Name && s.model.Window == 0 {
		s.model.Window = window
	}
}

// beforeRole saves the session's own settings before its first role, and returns the current model.
func (s *settings) beforeRole() Model {
	if m := s.model; s.role.Name == "" {
		s.own = Role{Model: m.Name, Temperature: m.Temperature, TopP: m.TopP, ReasoningEffort: m.ReasoningEffort, MaxOutputTokens: m.MaxOutputTokens}
	}
	return s.model
}

// putInForce swaps the role, its scope and its model.
func (s *settings) putInForce(role Role, m Model) {
	m.Temperature, m.TopP, m.ReasoningEffort, m.MaxOutputTokens = role.Temperature, role.TopP, role.ReasoningEffort, role.MaxOutputTokens
	s.role, s.scope, s.model = role, role.Scope, m
}

// enter makes the role in force the one that the person has chosen.
func (s *settings) enter(role Role) session.Change {
	s.entered = &role
	s.standing = role
	s.switches++
	values := s.keepValues(role)
	return session.Change{RoleName: &role.Name, RoleSnapshot: &role.Snapshot, RoleValues: &values}
}

// takeEntered returns a switch that the model has not been told of yet, once.
func (s *settings) takeEntered() *Role {
	role := s.entered
	s.entered = nil
	return role
}

// ownModel is the session's own model, which applies without a role.
func (s *settings) ownModel() string {
	if s.role.Name == "" {
		return s.model.Name
	}
	return s.own.Model
}

// valuesOf returns the values that the session keeps for the variables of a role.
func (s *settings) valuesOf(role string) map[string]string {
	return maps.Clone(readValues(s.values)[role])
}

// keepValues adds the values of a role to those that the session keeps, and returns the text for its row.
func (s *settings) keepValues(role Role) string {
	all := readValues(s.values)
	if len(role.Values) == 0 && all[role.Name] == nil {
		return s.values
	}
	all[role.Name] = role.Values
	if b, err := json.Marshal(all); err == nil { // maps of strings are always JSON
		s.values = string(b)
	}
	return s.values
}

// readValues reads what the session's row keeps. Values that can't be read are asked for again.
func readValues(kept string) map[string]map[string]string {
	all := map[string]map[string]string{}
	if kept == "" || json.Unmarshal([]byte(kept), &all) != nil || all == nil {
		return map[string]map[string]string{}
	}
	return all
}
