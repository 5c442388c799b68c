package config_test

import (
	"slices"
	"testing"

	"jcode/cli/config"
)

// A setting that waits for trust is shown in words; what has none is shown as key and value. What is approved are the
// same bytes as ever.
func TestAHeldSettingIsSaidInWordsAndPinnedAsBefore(t *testing.T) {
	project := t.TempDir()
	write(t, `{"permissions": {"allow": ["exec(make)"]}, "lsp": {"enabled": true}, "skills": {"folders": ["/a", "/b"]},
		"providers": {"own": {"base_url": "https://x.org/v1", "headers": {"X-A": "1"}, "models": []}},
		"hooks": {"PreToolUse": [{"matcher": "exec", "hooks": [{"command": "a b", "args": ["c d"], "if": "Bash(x)", "timeout": 5, "asyncRewake": true}]}],
			"Stop": [{"matcher": "", "hooks": []}]}}`, project, ".jcode", "config.json")
	want := map[string]struct {
		lines []string
		hash  string
	}{
		"permissions.allow": {[]string{"allow exec(make)"}, "6023cea9a7397ec3fe1eb52f9fc3d3aed8af40e693e6a16d71e5423829e137a4"},
		"skills.folders":    {[]string{"/a", "/b"}, "7cd395592108d3641a040dc4fea0b1b338bbdea85ee1ea8735287928958cc823"},
		"hooks.PreToolUse":  {[]string{"hook  PreToolUse on exec if Bash(x) (asyncRewake: true, timeout: 5)  'a b' 'c d'"}, "6b6c949b538c0d24ede2563825ddd3a5507a2f0867697e1d27bbfeb4414688e2"},
		"hooks.Stop":        {[]string{`{"hooks":[],"matcher":""}`}, "925905c9f0975c066d833cd7a025d3de44949d467de9ebb12dc1ddeddcfdcc11"},
		"providers.own":     {[]string{"base_url: https://x.org/v1", "headers.X-A: ***"}, "da8a2164a70364ad6ae7898239ccd57c9ac3ff4103e87beb7a0b4caa3e20288d"},
	}
	for _, h := range config.Load(config.Options{Project: project}).Held {
		w, ok := want[h.Key]
		if !ok {
			continue
		}
		delete(want, h.Key)
		if got := h.Lines(); !slices.Equal(got, w.lines) || h.Hash != w.hash {
			t.Errorf("%s: %q %s, want %q %s", h.Key, got, h.Hash, w.lines, w.hash)
		}
	}
	for key := range want {
		t.Errorf("%s does not wait for trust", key)
	}
}
