package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"

	"jcode/tools"
)

// The options of a session.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionRole   = "role"
	optionEffort = "effort"
)

// noRole and defaultEffort are the values without a choice.
const (
	noRole        = "none"
	defaultEffort = "default"
)

// modeChoices returns the approval modes with descriptions.
func modeChoices() []Choice {
	return []Choice{
		{string(tools.ModePlan), "Plan", "reads only; edits are refused"},
		{string(tools.ModeAsk), "Ask", "asks before edits and commands"},
		{string(tools.ModeEdits), "Edits", "edits in the project run; commands ask"},
		{string(tools.ModeAuto), "Auto", "edits and sandboxed commands run"},
		{string(tools.ModeYolo), "Yolo", "everything runs"},
	}
}

func effortChoices() []Choice {
	out := []Choice{{Value: defaultEffort, Name: "Default"}}
	for _, e := range []string{"none", "minimal", "low", "medium", "high", "xhigh"} {
		out = append(out, Choice{Value: e, Name: e})
	}
	return out
}

func (o *openSession) modes() *acp.SessionModeState {
	out := &acp.SessionModeState{CurrentModeId: acp.SessionModeId(o.conv.State().Mode)}
	for _, c := range o.modeChoices() {
		out.AvailableModes = append(out.AvailableModes, acp.SessionMode{Id: acp.SessionModeId(c.Value), Name: c.Name, Description: acp.Ptr(c.Description)})
	}
	return out
}

// modeChoices returns those of the session: up to its owner's.
func (o *openSession) modeChoices() []Choice {
	return slices.DeleteFunc(modeChoices(), func(c Choice) bool {
		m := tools.Mode(c.Value)
		return m.Under(o.w.Most) != m || m.Under(o.conv.State().MaxMode) != m
	})
}

// options returns the session's settings and their choices.
func (o *openSession) options() []acp.SessionConfigOption {
	st := o.conv.State()
	role, effort := cmp.Or(st.Role, noRole), cmp.Or(o.conv.Tuning().ReasoningEffort, defaultEffort)
	roles := append([]Choice{{Value: noRole, Name: "No role"}}, o.w.Roles(o.ctx)...)
	return []acp.SessionConfigOption{
		selectOption(optionMode, "Mode", acp.SessionConfigOptionCategoryMode, string(st.Mode), o.modeChoices()),
		selectOption(optionModel, "Model", acp.SessionConfigOptionCategoryModel, st.Model, o.modelChoices()),
		selectOption(optionRole, "Role", "", role, roles),
		selectOption(optionEffort, "Effort", acp.SessionConfigOptionCategoryThoughtLevel, effort, effortChoices()),
	}
}

// modelChoices returns the models that the settings name and, once they are known, those that the endpoint lists.
func (o *openSession) modelChoices() []Choice {
	o.mu.Lock()
	listed := slices.Clone(o.models)
	o.mu.Unlock()
	for _, c := range o.w.Models(o.ctx) {
		if !slices.ContainsFunc(listed, func(l Choice) bool { return l.Value == c.Value }) {
			listed = append(listed, c)
		}
	}
	return listed
}

// learnModels asks the endpoint for its models, once the conversation is there, and tells the client.
func (o *openSession) learnModels() {
	select {
	case <-o.ready:
	case <-o.ctx.Done():
		return
	}
	listed := o.w.ListModels(o.ctx)
	o.mu.Lock()
	same := slices.Equal(listed, o.models) || len(listed) == 0
	if !same {
		o.models = listed
	}
	o.mu.Unlock()
	if !same && o.ctx.Err() == nil {
		o.update(acp.SessionUpdate{ConfigOptionUpdate: &acp.SessionConfigOptionUpdate{ConfigOptions: o.options()}})
	}
}

func selectOption(id, name string, category acp.SessionConfigOptionCategory, current string, choices []Choice) acp.SessionConfigOption {
	s := &acp.SessionConfigOptionSelect{
		Id: acp.SessionConfigId(id), Name: name, Type: "select", CurrentValue: acp.SessionConfigValueId(current),
	}
	if category != "" {
		s.Category = &category
	}
	if !slices.ContainsFunc(choices, func(c Choice) bool { return c.Value == current }) {
		name := current
		if provider, whole := strings.CutSuffix(current, "/"); whole {
			name = provider + ": its default model"
		}
		choices = append([]Choice{{Value: current, Name: name}}, choices...)
	}
	list := make(acp.SessionConfigSelectOptionsUngrouped, len(choices))
	for i, c := range choices {
		list[i] = acp.SessionConfigSelectOption{Value: acp.SessionConfigValueId(c.Value), Name: cmp.Or(c.Name, c.Value)}
		if c.Description != "" {
			list[i].Description = acp.Ptr(c.Description)
		}
	}
	s.Options = acp.SessionConfigSelectOptions{Ungrouped: &list}
	return acp.SessionConfigOption{Select: s}
}

func (o *openSession) setMode(name string) error {
	mode, err := tools.ParseMode(name)
	if err != nil {
		return invalid("%v", err)
	}
	if o.w.Most != "" && mode.Under(o.w.Most) != mode {
		return invalid("mode %s allows more than the owner's, %s", mode, o.w.Most)
	}
	if most := o.conv.State().MaxMode; mode.Under(most) != mode {
		return invalid("mode %s is not allowed on this machine: at most %s is", mode, most)
	}
	o.conv.SetMode(mode)
	return nil
}

// configRequest is session/set_config_option. Some clients send the value as an object.
type configRequest struct {
	SessionID string          `json:"sessionId"`
	ConfigID  string          `json:"configId"`
	Value     json.RawMessage `json:"value"`
}

// set changes one option.
func (o *openSession) set(ctx context.Context, id string, raw json.RawMessage) error {
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return invalid("the value of %s is a string", id)
	}
	switch id {
	case optionMode:
		return o.setMode(value)
	case optionModel:
		if err := o.conv.SetModel(value); err != nil {
			return invalid("%v", err)
		}
	case optionRole:
		if value == noRole {
			value = ""
		}
		if err := o.conv.SetRole(ctx, value); err != nil {
			return invalid("%v", err)
		}
	case optionEffort:
		if !slices.ContainsFunc(effortChoices(), func(c Choice) bool { return c.Value == value }) {
			return invalid("there is no effort %q", value)
		}
		if value == defaultEffort {
			value = ""
		}
		t := o.conv.Tuning()
		t.ReasoningEffort = value
		o.conv.Tune(t)
	default:
		return invalid("there is no option %q: mode, model, role and effort can be set", id)
	}
	return nil
}
