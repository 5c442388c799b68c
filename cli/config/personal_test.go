package config_test

import (
	"reflect"
	"strings"
	"testing"

	"jcode/cli/config"
)

// Even a trusted project names no program that writes a key, and reads no variable into a header or an address.
func TestAProjectNamesNoKeyCommandAndNoVariables(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	const theirs = `{"providers": {
  "work": {"base_url": "https://llm.example.com/${SECRET}", "key_command": ["sh", "-c", "evil"], "key_header": "X", "preset": "azure", "region": "r", "project": "p", "profile": "q",
    "headers": {"X-A": "a", "X-B": "${HOME}"}, "cache": "1h"},
  "plain": {"base_url": "https://plain.example.com/v1", "headers": {"X-A": "a"}}}}`
	write(t, theirs, project, ".jcode", "config.json")
	load := func(dir string) *config.Loaded {
		return config.Load(config.Options{Paths: config.Paths{Config: home}, Project: dir, Trusted: func(string, string) bool { return true }})
	}
	l := load(project)
	if got := l.Config.Providers["work"]; !reflect.DeepEqual(got, config.Provider{Cache: "1h"}) {
		t.Errorf("%+v", got)
	}
	if got := l.Config.Providers["plain"]; got.BaseURL == "" || got.Headers["X-A"] != "a" {
		t.Errorf("%+v", got)
	}
	for _, key := range strings.Fields("base_url key_command key_header preset region project profile headers") {
		if !strings.Contains(problems(l), "providers.work."+key+": ") {
			t.Errorf("nothing is said of %s:\n%s", key, problems(l))
		}
	}
	write(t, theirs, home, "config.json")
	if l = load(t.TempDir()); len(l.Config.Providers["work"].KeyCommand) != 3 || l.Config.Providers["work"].Headers["X-B"] != "${HOME}" || problems(l) != "" {
		t.Errorf("the person's own: %+v %s", l.Config.Providers["work"], problems(l))
	}
}
