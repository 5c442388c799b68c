package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/mcp/config"
)

// To a server with folders of its own none are announced, so that it keeps them. To any other
// server the workspace is announced, or what its entry says.
func TestFoldersThatAServerIsToldOf(t *testing.T) {
	t.Parallel()
	home, root := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(home, "notes"), filepath.Join(root, "docs")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(root, "server.js"), "")
	env := config.Environment{Root: root, Home: home, Base: []string{"NOTES=" + filepath.Join(home, "notes")}}
	for name, c := range map[string]struct {
		entry string
		own   bool
		want  []string
	}{
		"no folder named":        {`{"command":"node","args":["server.js","--port","3"]}`, false, nil},
		"an address":             {`{"url":"https://example.com/mcp"}`, false, nil},
		"absolute folder":        {`{"command":"npx","args":["-y","pkg","` + root + `"]}`, true, nil},
		"folder of the home":     {`{"command":"npx","args":["-y","pkg","~/notes"]}`, true, nil},
		"folder by variable":     {`{"command":"npx","args":["-y","pkg","${NOTES}"]}`, true, nil},
		"relative folder":        {`{"command":"npx","args":["-y","pkg","docs"]}`, true, nil},
		"the working folder":     {`{"command":"uvx","args":["mcp-server-git","--repository","."]}`, true, nil},
		"value of an option":     {`{"command":"srv","args":["--dir=~/notes"]}`, true, nil},
		"workspace all the same": {`{"command":"srv","args":["~/notes"],"roots":"workspace"}`, false, nil},
		"none":                   {`{"command":"srv","roots":"none"}`, true, nil},
		"an empty list":          {`{"command":"srv","roots":[]}`, true, nil},
		"a list":                 {`{"command":"srv","roots":["~/notes","docs"]}`, true, []string{filepath.Join(home, "notes"), filepath.Join(root, "docs")}},
		"a list for an address":  {`{"url":"https://example.com/mcp","roots":["docs"]}`, true, []string{filepath.Join(root, "docs")}},
	} {
		e, err := config.ParseJSON("s", []byte(c.entry))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := env.Resolve(e)
		if err != nil || got.OwnRoots != c.own || !slices.Equal(got.Roots, c.want) {
			t.Errorf("%s: own %v, %q, %v", name, got.OwnRoots, got.Roots, err)
		}
		if slices.ContainsFunc(got.Args, func(a string) bool { return strings.Contains(a, "~") }) {
			t.Errorf("%s: %q", name, got.Args)
		}
	}
	if _, err := config.ParseJSON("s", []byte(`{"command":"srv","roots":"all"}`)); err == nil || !strings.Contains(err.Error(), "roots") {
		t.Errorf("%v", err)
	}
}

// The announced folders are shown, and reach the server.
func TestToldFoldersAreShown(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	r := newManagerRig(t, map[string]any{
		"plain": "roots", "given": with("given", "roots", map[string]any{"roots": []string{other}}), "none": with("none", "roots", map[string]any{"roots": "none"}),
	}, func(o *Options) { o.Roots = []string{o.Paths.ProjectRoot} })
	r.m.Start()
	for name, want := range map[string]string{"plain": r.opt.Paths.ProjectRoot, "given": other, "none": ""} {
		d := r.waitState(name, StateConnected)
		if strings.Join(d.Roots, " ") != want {
			t.Errorf("%s: told of %q", name, d.Roots)
		}
		text := r.call("mcp:"+name+":roots", `{}`).Text
		if want != "" && !strings.Contains(text, filepath.ToSlash(want)) || want == "" && strings.Contains(text, "file:") {
			t.Errorf("%s got %s", name, text)
		}
	}
}
