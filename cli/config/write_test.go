package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"

	"jcode/cli/config"
)

// TestMain lets the test binary play a second jcode that saves settings.
func TestMain(m *testing.M) {
	if file := os.Getenv("TEST_SAVE_FILE"); file != "" {
		for i := range 20 {
			key := os.Getenv("TEST_SAVE_KEY")
			err := config.Set(file, key, fmt.Sprintf("%s-%d", key, i))
			if err == nil {
				err = config.Include(file, "skills.disabled", fmt.Sprintf("%s-%d", key, i), true)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTwoProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	file := write(t, "{\n  // mine\n  \"zzz\": 1,\n}\n", t.TempDir(), "config.json")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"model", "fallback_model", "editor"}
	var running []*exec.Cmd
	for _, key := range keys {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "TEST_SAVE_FILE="+file, "TEST_SAVE_KEY="+key)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	l := config.Load(config.Options{Paths: config.Paths{Config: filepath.Dir(file)}})
	if c := l.Config; c.Model != "model-19" || c.FallbackModel != "fallback_model-19" || c.Editor != "editor-19" || len(c.Skills.Disabled) != 60 {
		t.Errorf("%+v", c)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "// mine\n  \"zzz\": 1,\n") {
		t.Errorf("comment or unknown key lost: %s", text)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); len(left) > 2 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSetKeepsWhatItDoesNotTouch(t *testing.T) {
	t.Parallel()
	const before = "{\n  // 27\" display\n  \"model\": \"a,]\", // mine\n  \"mcp\": {\"max_tools\": 5},\n  \"unknown\": [1, /* two */ 2,],\n}\n"
	tests := []struct {
		key   string
		value any
		want  string
	}{
		{"model", "new", strings.Replace(before, `"a,]"`, `"new"`, 1)},
		{"theme", "dark", strings.Replace(before, "2,],\n", "2,],\n  \"theme\": \"dark\",\n", 1)},
		{"mcp.maxTools", 7, strings.Replace(before, `"max_tools": 5`, `"max_tools": 7`, 1)},
		{"mcp.maxTools", nil, strings.Replace(before, "  \"mcp\": {\"max_tools\": 5},\n", "", 1)},
		{"model", nil, "{\n  \"mcp\": {\"max_tools\": 5},\n  \"unknown\": [1, /* two */ 2,],\n}\n"},
		{"theme", nil, before},
	}
	for _, tt := range tests {
		file := write(t, before, t.TempDir(), "config.json")
		if err := config.Set(file, tt.key, tt.value); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(file); string(got) != tt.want {
			t.Errorf("%s = %v: got\n%s\nwant\n%s", tt.key, tt.value, got, tt.want)
		}
	}
}

// TestSetTakesAThemeOfAFile that lies beside the settings.
func TestSetTakesAThemeOfAFile(t *testing.T) {
	t.Parallel()
	file := write(t, "{}", t.TempDir(), "config.json")
	if err := config.Set(file, "theme", "dusk"); err == nil || !strings.Contains(err.Error(), "the name of a file in themes") {
		t.Errorf("without the file: %v", err)
	}
	write(t, "{}", filepath.Dir(file), "themes", "dusk.json")
	if err := config.Set(file, "theme", "dusk"); err != nil {
		t.Error(err)
	}
}

func TestSetRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	file := write(t, "{}", t.TempDir(), "config.json")
	for key, tt := range map[string]struct {
		value any
		want  string
	}{
		"modle":           {"x", "did you mean model?"},
		"leave":           {"txt", "must be one of text, none"},
		"max_steps":       {0, "at least 1"},
		"mcp.tolls":       {"x", "did you mean mcp.tools?"},
		"mcp.tools.x":     {"x", "has no parts"},
		"lua.eval":        {"yes", "must be true or false"},
		"providers":       {"x", "must be an object"},
		"after_edit":      {[]any{map[string]any{"glob": "x"}}, `lacks "cmd"`},
		"nothing.at.all":  {1, "there is no setting"},
		"providers.p.zzz": {1, "there is no setting"},
	} {
		if err := config.Set(file, key, tt.value); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", key, err, tt.want)
		}
	}
	if got, _ := os.ReadFile(file); string(got) != "{}" {
		t.Errorf("written: %s", got)
	}
	write(t, "{\"a\" 1}", file)
	if err := config.Set(file, "model", "x"); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken file: %v", err)
	}
}

func TestSetMakesFileAndSections(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	file := filepath.Join(dir, "config.json")
	for key, value := range map[string]any{
		"providers.work.base_url": "http://x", "Keys.submit": []string{"ctrl+s"}, "mcp.defer_threshold": "10%", "providers.my.prefer": []string{"a"},
	} {
		if err := config.Set(file, key, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, on := range []bool{true, true, false} {
		if err := config.Include(file, "skills.disabled", "x", on); err != nil {
			t.Fatal(err)
		}
	}
	l := config.Load(config.Options{Paths: config.Paths{Config: dir}})
	if c := l.Config; c.Providers["work"].BaseURL != "http://x" || c.Keys["submit"][0] != "ctrl+s" || c.MCP.DeferThreshold.Share != 0.1 || len(c.Skills.Disabled) != 0 || problems(l) != "" {
		t.Errorf("%+v %s", c, problems(l))
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "credentials.json")
	if c, warning, err := config.ReadCredentials(file); err != nil || len(c) != 0 || warning != "" {
		t.Errorf("missing: %v %s %v", c, warning, err)
	}
	for provider, key := range map[string]string{"openai": " sk-1 ", "work": "sk-2", "old": "sk-3"} {
		if err := config.StoreKey(file, provider, key); err != nil {
			t.Fatal(err)
		}
	}
	if err := config.StoreKey(file, "old", ""); err != nil {
		t.Fatal(err)
	}
	if err := config.StoreKey(file, "bad", "a\nb"); err == nil {
		t.Error("a key of two lines was stored")
	}
	c, _, err := config.ReadCredentials(file)
	if err != nil || len(c) != 2 || c["openai"] != "sk-1" || c["work"] != "sk-2" {
		t.Errorf("%#v %v", map[string]string(c), err)
	}
	if s := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(s, "sk-") {
		t.Errorf("prints as %s", s)
	}
	if runtime.GOOS != "windows" {
		if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, warning, err := config.ReadCredentials(file); err != nil || !strings.Contains(warning, "mode 0644") {
			t.Errorf("readable by others: %q %v", warning, err)
		}
		if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
			t.Errorf("mode still %v", info.Mode())
		}
	}
	write(t, `{"openai": sk-secret}`, file)
	if _, _, err := config.ReadCredentials(file); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("broken: %v", err)
	}
}

func TestShowMasksSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, `{"providers": {"p": {"base_url": "https://me:pw1@x/v1?key=pw2", "key_env": "MY_KEY", "headers": {"X": "pw3"},
		"extra_body": {"api_key": "pw4", "deep": {"access-token": "pw5"}, "top_k": 5}}}, "max_steps": 3}`, dir, "config.json")
	l := config.Load(config.Options{Paths: config.Paths{Config: dir}})
	list, err := l.Show(true)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "pw") {
		t.Errorf("shows %s", out)
	}
	for _, want := range []string{`"MY_KEY"`, `"top_k":5`, `config.json:2`, `{"key":"max_steps","value":3,`, `{"key":"mode","value":"ask","origin":"default"}`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	var said strings.Builder
	write(t, `{"providers": {"p": {"headers": "pw6", "extra_body": 1}, "q": {"headers": {"A": 987654321987}}}}`, dir, "config.json")
	for _, p := range config.Load(config.Options{Paths: config.Paths{Config: dir}}).Problems {
		said.WriteString(p.String())
	}
	if strings.Contains(said.String(), "pw6") || strings.Contains(said.String(), "987654321987") {
		t.Errorf("a problem shows a secret: %s", said.String())
	}
}

// everything is a file that sets each key once.
const everything = `{
  "$schema": "x", "model": "m", "provider": "p", "fallback_model": "f", "small_model": "s", "favorite_models": ["m"],
  "providers": {"p": {"base_url": "http://x", "key_env": "K", "headers": {"a": "b"}, "extra_body": {"c": [1]}, "prefer": ["x"], "local": true,
    "max_tools": 10, "idle_timeout": "30s", "quirks": {"developer_role": true, "max_completion_tokens": true, "no_stream_options": true, "strict": true,
    "no_temperature": true, "no_images": true, "reasoning_back": true, "think_open": true, "short_call_ids": true, "cache_markers": [""]}}},
  "models": [{"id": "m", "window": 1, "max_output": 1, "prices": {"input": 1, "output": 2.5, "cached": 0}, "vision": true, "reasons": false}],
  "mode": "plan", "permissions": {"allow": ["ls"], "ask": ["grep"], "deny": ["glob"]},
  "sandbox": {"network": true, "caches": ["c"], "protect": ["p"]}, "trust": {"folders": ["~/x"]},
  "mcp": {"tools": "direct", "deferThreshold": 8000, "maxTools": 20, "importClaude": false},
  "skills": {"folders": ["/s"], "disabled": ["d"]}, "lua": {"eval": true}, "compaction": {"threshold": 0.5}, "loop": {"repeats": 3, "alerts": 1},
  "after_edit": [{"glob": "*.go", "cmd": "gofmt -w $FILE"}], "prelude": {"role": "r", "session": "continue", "command": "/x"},
  "max_steps": 5, "max_cost": 1.5, "idle_timeout": 60, "theme": "dark", "keys": {"submit": "enter"}, "status_line": ["model", "cost"],
  "editor": "vi", "vi": true, "notifications": "bell"
}`

func TestSchemaFitsTheTypes(t *testing.T) {
	t.Parallel()
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text string) error {
		std, err := hujson.Standardize([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(std, &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v)
	}
	if err := check(everything); err != nil {
		t.Errorf("the schema refuses what fits: %v", err)
	}
	for _, bad := range []string{`{"modle": 1}`, `{"leave": "x"}`, `{"max_steps": 0}`, `{"after_edit": [{"glob": "x"}]}`, `{"idle_timeout": "soon"}`, `{"mcp": {"deferThreshold": "x"}}`} {
		if check(bad) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
	l := user(t, everything)
	if problems(l) != "" {
		t.Errorf("the loader refuses what fits: %s", problems(l))
	}
	// The example sets every setting, and each is in the reference and can be shown.
	shown, err := l.Show(false)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, s := range shown {
		keys = append(keys, s.Key)
	}
	if len(keys) != len(l.Origins) {
		t.Errorf("%d settings shown, %d set", len(keys), len(l.Origins))
	}
	ref := config.Reference()
	for _, k := range keys {
		k = strings.Replace(strings.Replace(k, "providers.p", "providers.NAME", 1), "keys.submit", "keys", 1)
		if !strings.Contains(ref, "`"+k+"`") && !strings.Contains(ref, "`"+k+"[]`") {
			t.Errorf("%s is not in the reference", k)
		}
	}
	all, err := user(t, "{}").Show(true)
	if err != nil || !slices.ContainsFunc(all, func(s config.Setting) bool { return s.Key == "mcp.tools" && string(s.Value) == `"auto"` }) {
		t.Errorf("defaults: %+v %v", all, err)
	}
}

func FuzzSet(f *testing.F) {
	f.Add(everything, "model", "x")
	f.Add("{ // c\n}", "keys.a.b", "y")
	f.Add(`{"mcp": 1}`, "mcp.tools", "auto")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, key, value string) {
		file := filepath.Join(dir, "config.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := config.Set(file, key, value)
		after, _ := os.ReadFile(file)
		if err != nil {
			if string(after) != text {
				t.Errorf("refused (%v) but written", err)
			}
			return
		}
		if _, err := hujson.Parse(after); err != nil {
			t.Errorf("no longer parses: %v\n%s", err, after)
		}
	})
}
