package modelscli

import (
	"cmp"
	"errors"
	"io/fs"
	"time"

	"jcode/agent/event"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/provider"
	"jcode/cli/config"
)

// Known returns what settings know of models, on top of the table that is kept in a file.
func Known(conf config.Config, table string, say func(level event.Level, format string, args ...any)) map[string]catalogue.Info {
	out := Configured(conf)
	t, err := readTable(table)
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	if err != nil {
		say(event.LevelWarn, "%s is not used: %v; jcode models update reads it again", table, err)
		return out
	}
	for name, info := range t.Own() {
		mine, ok := out[name]
		if !ok {
			out[name] = info
			continue
		}
		out[name] = mine.Over(info)
	}
	return out
}

// Configured returns what the configuration knows of models.
func Configured(c config.Config) map[string]catalogue.Info {
	out := make(map[string]catalogue.Info, len(c.Models))
	for _, m := range c.Models {
		out[m.ID] = catalogue.Info{
			Window: m.Window, MaxOutput: m.MaxOutput, Input: m.Prices.Input, Output: m.Prices.Output, Cached: m.Prices.Cached,
			Images: config.IsOn(m.Vision), Reasons: config.IsOn(m.Reasons), Habits: catalogue.Habits{Patches: config.IsOn(m.Patches), Unpatched: config.IsOff(m.Patches)},
		}
	}
	return out
}

// Providers converts the configured providers to the form of package provider. own is what is known of models.
func Providers(c config.Config, own map[string]catalogue.Info) map[string]provider.Config {
	out := make(map[string]provider.Config, len(c.Providers))
	for name, p := range c.Providers {
		out[name] = provider.Config{
			Name: name, BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, Headers: p.Headers, ExtraBody: p.ExtraBody,
			KeyCommand: p.KeyCommand, KeyHeader: p.KeyHeader, Preset: p.Preset, Region: p.Region, Project: p.Project, Profile: p.Profile,
			Protocol: provider.Protocol(p.Protocol), Cache: p.Cache, Search: config.IsOn(p.WebSearch), Local: config.IsOn(p.Local), Prefer: p.Prefer, Quirks: provider.Quirks(p.Quirks), Models: own,
			Limits: provider.Limits{Idle: time.Duration(cmp.Or(p.IdleTimeout, c.IdleTimeout)), Attempts: c.Attempts},
		}
	}
	return out
}
