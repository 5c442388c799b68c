//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// privateFiles are what programs keep below a home folder that is nobody else's business.
var privateFiles = []string{
	".ssh/id_ed25519", ".gnupg/private-keys-v1.d/x", ".netrc", ".authinfo", ".pgpass", ".my.cnf", ".mylogin.cnf", ".s3cfg", ".boto", ".vault-token", ".docker/config.json", ".kube/config", ".azure/x",
	".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".config/rclone/rclone.conf", ".config/op/config", ".config/doctl/config.yaml", ".config/hcloud/cli.toml", ".config/sops/age/keys.txt",
	".config/google-chrome/Default/Cookies", ".mozilla/firefox/x/logins.json", ".thunderbird/x", ".config/Slack/Cookies", ".config/discord/x", ".local/share/keyrings/login.keyring", ".password-store/x.gpg",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history", ".lesshst", ".viminfo", ".local/share/fish/fish_history", ".config/fish/fish_variables",
	".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".npmrc", ".yarnrc.yml", ".pypirc", ".terraform.d/credentials.tfrc.json", ".composer/auth.json", ".nuget/NuGet/NuGet.Config",
	".claude.json", ".claude/projects/x.jsonl", ".codex/auth.json", ".aider.conf.yml", ".config/jcode/credentials.json", ".config/github-copilot/hosts.json", ".config/opencode/x", ".gemini/oauth_creds.json",
	".wine/x", ".electrum/wallets/x", ".bitcoin/wallet.dat", ".purple/accounts.xml", ".config/autostart/x.desktop", "Documents/letter.txt", "Downloads/x.pdf", "src/other/main.go", ".bashrc", ".profile", ".env",
}

func TestConfinedCommandsReadNothingPrivateBelowHome(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.policy.Home = r.home
		var all []string
		for _, f := range privateFiles {
			r.put("home/" + f)
			all = append(all, "../home/"+f)
		}
		if err := os.WriteFile(filepath.Join(r.home, ".npmrc"), []byte("//registry/:_authToken=x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := r.sh("for f in " + strings.Join(all, " ") + "; do cat $f >/dev/null 2>&1 && test -s $f && head -c1 $f | grep -q . && echo $f; done; true")
		if out != "" {
			t.Errorf("readable:\n%s", out)
		}
		for _, f := range []string{".gitconfig", ".config/git/ignore", ".cargo/bin/tool", ".cargo/registry/x", "go/pkg/mod/x", ".rustup/toolchains/x", ".nvm/versions/x", ".local/bin/tool", ".local/share/uv/tools/x", ".m2/repository/x", ".cache/pip/x"} {
			r.put("home/" + f)
			if out, code := r.sh("cat ../home/" + f); code != 0 {
				t.Errorf("%s: %s", f, out)
			}
		}
		r.put("home/src/mine/x")
		r.policy.Roots = append(r.policy.Roots, filepath.Join(r.home, "src", "mine"))
		if out, code := r.sh("cat ../home/src/mine/x && echo new > ../home/src/mine/y"); code != 0 {
			t.Errorf("a project below home: %s", out)
		}
		if out, code := r.sh("cat ../home/src/other/main.go"); code == 0 {
			t.Errorf("the project beside it: %s", out)
		}
	})
}

// In folders of tools that may be read, what holds keys or what a person typed may not: by its name, or by what is in it.
func TestKeysInFoldersOfToolsAreNotReadable(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.policy.Home = r.home
		private := map[string]string{
			".local/share/uv/credentials/credentials.toml": "x", ".julia/servers/a/auth.toml": "x", ".julia/logs/repl_history.jl": "x", ".nuget/NuGet/config/a.config": "x", ".foundry/keystores/main": "x", ".foundry/.env": "x",
			".java/.userPrefs/x": "x", ".wasmer/wasmer.toml": "x", ".sbt/gpg/secring.asc": "x", ".sbt/1.0/credentials.sbt": "x", ".cache/gh/x": "x", ".cache/bitwarden/x": "x", ".cache/nvim/x": "x", ".config/nix/netrc": "x",
			".cargo/config.toml": "[registry]\ntoken = \"x\"\n", ".composer/config.json": `{"config": {"github-oauth": {"github.com": "x"}}}`, ".config/nix/nix.conf": "access-tokens = github.com=x\n", ".config/mise/config.toml": "[env]\nFOO_TOKEN = \"x\"\n",
			".config/uv/uv.toml": "index-url = \"https://u:p@h/simple\"\n", ".config/git/config": "[http]\n\textraheader = Authorization: x\n", ".conda/.condarc": "channels: [https://u:p@h/c]\n", ".gradle/init.gradle": "password = 'x'\n", ".config/go/env": "GOPROXY=https://u:p@h\n",
			".deno/netrc": "x", ".bun/wallet": "x", ".volta/auth-token": "x", ".rvm/secrets.yml": "x", ".pyenv/pyenv_history": "x", ".opam/credentials.txt": "x", ".asdf/id_ed25519": "x",
		}
		public := map[string]string{
			".cargo/config": "[build]\njobs = 2\n", ".config/git/ignore": "x", ".config/uv/uv2.toml": "x", ".julia/environments/x": "x", ".foundry/bin/forge": "x", ".sbt/1.0/plugins/a.sbt": "x", ".cache/pip/x": "x", ".nuget/packages/x": "x",
			".local/share/uv/tools/x": "x", ".stack/config.yaml": "resolver: lts\n", ".cache/authlib/x": "x", "go/pkg/mod/token@v1/x.go": "x", ".config/composer/config.json": "{}",
		}
		for _, all := range []map[string]string{private, public} {
			for name, content := range all {
				r.put("home/" + name)
				if err := os.WriteFile(filepath.Join(r.home, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		list := func(all map[string]string) string {
			line := ""
			for name := range all {
				line += "head -c1 ../home/" + name + " 2> /dev/null | grep -q . && echo " + name + "\n"
			}
			out, _ := r.sh(line + "true")
			return out
		}
		if out := list(private); out != "" {
			t.Errorf("readable:\n%s", out)
		}
		if out := list(public); strings.Count(out, "\n") != len(public) {
			t.Errorf("readable of %d:\n%s", len(public), out)
		}
	})
}

// Where the home folder is worked in, only its visible folders are the project.
func TestConfinedCommandsMakeNoStartUpFileInAHome(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		r.put("home/project/a", "home/bin/tool", "home/.config/zsh/x", "home/.local/bin/x")
		r.policy.Roots, r.policy.Home = []string{r.project, r.home}, r.home
		for _, f := range []string{
			".xsessionrc", ".bash_completion", ".bashrc", ".vimrc", ".tmux.conf", ".screenrc", ".config/zsh/.zshrc", ".local/bin/git", ".claude.json", ".codex/config.toml", "bin/git", ".newsboat/x", ".gdbinit",
			".config/nvim/init.lua", ".local/share/applications/x.desktop", ".cargo/config.toml", ".npmrc", ".pip/pip.conf", ".pam_environment", ".face", ".Xresources", "go/bin/tool",
		} {
			_, code := r.sh("mkdir -p ../home/" + filepath.Dir(f) + " && echo evil > ../home/" + f)
			if _, err := os.Stat(filepath.Join(r.home, f)); err == nil || code == 0 {
				t.Errorf("%s was made (exit code %d)", f, code)
			}
		}
		if out, code := r.sh("echo new > ../home/project/b && mkdir ../home/project/c && echo x >> ../home/notes.txt && cat ../home/project/a"); code != 0 {
			t.Errorf("the project itself: %s", out)
		}
	})
}

func TestWhatSteersGitIsLockedHoweverDeepItIs(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	deep := "project/.git/modules/a/b/c/d/e/f/"
	r.put(deep+"HEAD", deep+"config", deep+"objects/x", deep+"hooks/x", deep+"modules/g/HEAD", deep+"modules/g/config", deep+"modules/g/refs/x", "project/.git/rebase-merge/git-rebase-todo",
		"project/.git/info/attributes", "project/.git/objects/info/alternates", "project/.gitconfig.shared", "project/conf/more")
	for path, text := range map[string]string{"project/.git/config": "[core]\n\tbare = false\n[include]\n\tpath = ../.gitconfig.shared\n", "project/.gitconfig.shared": "[includeIf \"gitdir:~/x/\"]\npath = conf/more\n", "project/.git/rebase-merge/git-rebase-todo": "exec make test\npick 1234567 more\n"} {
		if err := os.WriteFile(filepath.Join(r.base, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{
		".git/modules/a/b/c/d/e/f/config", ".git/modules/a/b/c/d/e/f/hooks/post-checkout", ".git/modules/a/b/c/d/e/f/modules/g/config", ".git/rebase-merge/git-rebase-todo", ".git/info/attributes",
		".git/objects/info/alternates", ".gitconfig.shared", "conf/more",
	} {
		if out, code := r.sh("echo evil >> " + f); code == 0 {
			t.Errorf("%s was changed: %s", f, out)
		}
	}
}

// A rebase that stopped goes on: its plan is git's to write, as long as it runs nothing. What a command adds to run
// is told.
func TestARebaseThatStoppedGoesOn(t *testing.T) {
	r := newRig(t)
	if !r.Report().Shields {
		t.Skipf("no namespaces here: %v", r.Report().Why)
	}
	out, code := r.sh(`git init -q -b main . && git config --file .gitc user.name t; export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
say() { echo "$1" > f && git add f && git commit -qm "$1"; }
say one && git checkout -qb side && say two && say three && echo g > g && git add g && git commit -qm four && git checkout -q main && say other && git checkout -q side && ! git rebase -q main`)
	if code != 0 {
		t.Skipf("no git here: %s", out)
	}
	env := "export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t GIT_EDITOR=true; "
	if out, code := r.sh(env + "echo two > f && git add f && git rebase --continue; test -d .git/rebase-merge && echo three > f && git add f && git rebase --continue && git log --format=%s"); code != 0 || !strings.Contains(out, "four\nthree\ntwo\nother") {
		t.Fatalf("exit code %d: %s", code, out)
	}
	plan := filepath.Join(r.project, ".git", "rebase-merge", "git-rebase-todo")
	for name, lines := range map[string][2]string{
		"told":        {"pick 1234567 x\n", "pick 1234567 x\n x evil\n"},
		"not told":    {"pick 1234567 x\npick 2345678 y\n", "pick 2345678 y\n"},
		"not changed": {"pick 1234567 x\nexec make\n", "exec evil\n"},
	} {
		r.put("project/.git/rebase-merge/git-rebase-todo")
		if err := os.WriteFile(plan, []byte(lines[0]), 0o644); err != nil {
			t.Fatal(err)
		}
		_, code := r.sh("printf '" + strings.ReplaceAll(lines[1], "\n", "\\n") + "' > " + plan)
		if told := slices.Contains(r.made, plan); told != (name == "told") || (code == 0) == (name == "not changed") {
			t.Errorf("%s: exit code %d, told %v", name, code, told)
		}
	}
}

func TestConfinedCommandsGetAroundNoFilter(t *testing.T) {
	everyWay(t, func(t *testing.T, r *rig) {
		if _, code := r.sh("python3 -c 1"); code != 0 || !r.Report().OthersKept {
			t.Skip("no Python here, or no filters of system calls")
		}
		for name, line := range map[string]string{
			"numbers of another architecture": `python3 -c 'import ctypes,mmap,platform
if platform.machine()!="x86_64": raise SystemExit(1)
m=mmap.mmap(-1,4096,prot=7); m.write(b"\xb8\x14\0\0\0\xcd\x80\xc3")
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()'`,
			"a socket of virtual machines": `python3 -c 'import socket; socket.socket(40,1)'`,
			"a socket of a radio":          `python3 -c 'import socket; socket.socket(31,1,1)'`,
			"rights of the owner":          "chmod u+s a.txt",
			"rights of the group":          "chmod 2755 a.txt",
			"rights from the beginning":    `python3 -c 'import os; os.open("suid", os.O_CREAT|os.O_WRONLY, 0o4755)'`,
			"installing with rights":       "install -m 4755 a.txt suid2",
		} {
			if out, code := r.sh(line); code == 0 {
				t.Errorf("%s: %s", name, out)
			}
		}
		if out, code := r.sh(`chmod 755 a.txt && mkdir -m 700 d && chmod -R u+w d && cp -p a.txt d && python3 -c 'import socket; socket.socket(); socket.socketpair()' && install -m 755 a.txt x && touch y`); code != 0 {
			t.Errorf("ordinary work: %s", out)
		}
	})
}
