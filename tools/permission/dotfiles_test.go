package permission_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// Many people keep the start-up files of their account in a repository and link to them; there
// the files have other names.
func TestStartUpFilesThatAreLinksIntoTheWorkspaceAreProtected(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	config := filepath.Join(home, ".config", "jcode")
	put(t, root, "fish/conf.d/x.fish", "")
	put(t, config, "other.json", "")
	put(t, home, ".ssh/known_hosts", "")
	for link, target := range map[string]string{
		".profile": "profile", ".zshrc": "zsh/rc", ".config/fish": "fish", ".ssh/config": "ssh-config", ".config/jcode/config.json": "jcode.json", ".notes": "notes",
	} {
		at := filepath.Join(home, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, filepath.FromSlash(target)), at); err != nil {
			t.Skip(err)
		}
	}
	put(t, root, "zsh/rc", "")
	g := newGate(t, root, home, permission.RuleSet{})
	for file, why := range map[string]string{
		"profile":            "start-up", // it does not exist yet
		"zsh/rc":             "start-up",
		"fish/conf.d/x.fish": "start-up",
		"fish/new.fish":      "start-up",
		"ssh-config":         "start-up",
		"jcode.json":         "jcode's own",
		"zsh/other":          "",
		"notes":              "",
	} {
		for _, mode := range []tools.Mode{tools.ModeEdits, tools.ModeYolo} {
			p := says(tools.AnswerNo)
			g.Check(context.Background(), fileRequest("write", tools.AccessWrite, filepath.Join(root, filepath.FromSlash(file)), caller(mode, p)))
			if asked := len(p.asked) > 0; asked != (why != "") || asked && !strings.Contains(p.asked[0].Title+strings.Join(p.asked[0].Details, "\n"), why) {
				t.Errorf("write %s in %s: %+v, want a question that says %q", file, mode, p.asked, why)
			}
		}
		if e := g.Explain(context.Background(), caller(tools.ModeYolo, nil), "tee "+file); (e.Outcome == "asks") != (why != "") {
			t.Errorf("tee %s: %s", file, e)
		}
	}
}
