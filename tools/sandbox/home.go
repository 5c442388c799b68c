package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
)

// homeReadable are the files and folders below a home folder that commands may read: tools, what tools need
// to run, and settings without keys. Everything else there is private unless it belongs to the workspace.
var homeReadable = [...]string{
	// Tools and what they installed.
	"go", ".go", ".gvm", ".cargo", ".rustup", ".nvm", ".npm", ".npm-global", ".node", ".node_modules", ".nodenv", ".volta", ".fnm", ".bun", ".deno", ".yarn", ".pnpm-store",
	".pyenv", ".conda", "miniconda3", "miniforge3", "mambaforge", "anaconda3", "micromamba", ".virtualenvs", ".rbenv", ".rvm", ".rubies", ".gem", ".bundle", ".asdf", ".local/bin",
	".local/lib", ".local/include", ".local/opt", ".local/go", ".local/pipx", ".local/share/pipx", ".local/share/uv", ".local/share/mise", ".local/share/rtx", ".local/share/pnpm", ".local/share/fnm",
	".local/share/virtualenv", ".local/share/virtualenvs", ".local/share/pypoetry", ".local/share/man", ".local/share/bash-completion", ".local/share/fonts", ".local/share/mime", ".local/share/zoneinfo",
	".local/share/cargo", ".local/share/rustup", ".local/share/go", ".local/share/gem", ".local/share/npm", ".local/share/coursier", ".local/state/nix", ".nix-profile", ".nix-defexpr", ".nix-channels",
	".sdkman", ".jenv", ".jdks", ".java", ".gradle", ".m2", ".ivy2", ".sbt", ".coursier", ".konan", ".nuget", ".dotnet", ".ghcup", ".cabal", ".stack", ".opam", ".juliaup", ".julia", ".elan", ".hex", ".mix",
	".kiex", ".pub-cache", ".dart", ".flutter", ".composer", ".config/composer", ".phpbrew", ".luarocks", ".swiftpm", ".swiftly", ".zig", ".zvm", ".wasmtime", ".wasmer", ".wasmedge", ".foundry", ".arkade", ".krew",
	".terraform.d", ".tfenv", ".tflint.d", ".linuxbrew", "Android/Sdk", ".android/sdk", "sdk", ".ccache", ".cache",
	// Settings without keys.
	".gitconfig", ".gitignore", ".gitignore_global", ".gitattributes", ".config/git", ".npmrc", ".yarnrc", ".config/go", ".config/pip/pip.conf", ".config/uv", ".config/ruff", ".config/black", ".ripgreprc", ".config/ripgrep",
	".editorconfig", ".prettierrc", ".eslintrc", ".clang-format", ".clang-tidy", ".config/clangd", ".inputrc", ".terminfo", ".curlrc", ".wgetrc", ".gemrc", ".irbrc", ".condarc", ".mambarc", ".tool-versions", ".config/mise",
	".config/nix", ".config/fontconfig", ".fonts", ".config/golangci-lint", ".golangci.yml", ".shellcheckrc", ".stylua.toml", ".config/nextest", ".config/locale.conf", ".gdbinit", ".lldbinit", ".makerc",
}

// homePrivate are the parts of those that hold keys, or what a browser and a person did.
var homePrivate = [...]string{
	".cargo/credentials", ".cargo/credentials.toml", ".local/share/cargo/credentials.toml", ".gem/credentials", ".local/share/gem/credentials", ".bundle/config", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".ivy2/.credentials", ".sbt/.credentials", ".nuget/NuGet/NuGet.Config", ".composer/auth.json", ".config/composer/auth.json", ".pub-cache/credentials.json",
	".terraform.d/credentials.tfrc.json", ".hex/hex.config", ".config/git/credentials", ".luarocks/config.lua", ".android/sdk/.keystore", ".conda/.cdsapirc", ".dotnet/corefx", ".stack/upload", ".cabal/config",
	".cache/mozilla", ".cache/google-chrome", ".cache/chromium", ".cache/BraveSoftware", ".cache/microsoft-edge", ".cache/vivaldi", ".cache/opera", ".cache/thunderbird", ".cache/evolution", ".cache/thumbnails",
	".cache/keyring", ".cache/tracker", ".cache/tracker3", ".cache/spotify", ".cache/Slack", ".cache/discord", ".cache/gnome-software", ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".cache/mutt", ".cache/mesa_shader_cache_db_private",
	".local/share/uv/credentials", ".julia/servers", ".julia/logs", ".nuget/NuGet/config", ".foundry/.env", ".java/.userPrefs", ".wasmer/wasmer.toml", ".sbt/1.0/credentials.sbt", ".sbt/1.0/sonatype.sbt", ".sbt/gpg",
	".config/nix/netrc", ".cache/gh", ".cache/lftp", ".cache/keepassxc", ".cache/bitwarden", ".cache/remmina", ".cache/telegram-desktop", ".cache/vim", ".cache/nvim", ".cache/zed", ".cache/fish", ".cache/ksshaskpass", ".cache/mysql-workbench",
	".cache/jcode", ".cache/gcloud", ".cache/aws", ".cache/rclone", ".cache/vscode", ".cache/JetBrains", ".cache/claude-cli-nodejs", ".cache/goimapnotify", ".cache/bash", ".cache/zsh",
}

// homeSettings are files in readable folders that are settings, in which a person may have put a key.
var homeSettings = [...]string{
	".cargo/config", ".cargo/config.toml", ".composer/config.json", ".config/composer/config.json", ".config/nix/nix.conf", ".config/mise/config.toml", ".config/mise/config.local.toml", ".config/uv/uv.toml", ".config/git/config",
	".conda/.condarc", "miniconda3/.condarc", "miniforge3/.condarc", "mambaforge/.condarc", "anaconda3/.condarc", ".gradle/init.gradle", ".gradle/init.gradle.kts", ".stack/config.yaml", ".config/go/env", ".npm-global/etc/npmrc", ".bundle/config.yml",
}

// homeView says what of a home folder commands may read.
type homeView struct {
	Home   string   `json:"home"`
	Open   []string `json:"open"`              // the parts that may be read
	Closed []string `json:"closed,omitempty"`  // parts of those that may not
	Is     bool     `json:"is_root,omitempty"` // it is, or is part of, the workspace
}

// view computes what of the home folder a command may read: the workspace, the caches, tools, what git needs,
// and a list of settings, and more. Everything else there is private.
func (p Policy) view(env []string, more ...string) (v homeView) {
	home, err := paths.Resolve(p.Home)
	if p.Home == "" || err != nil || home == "/" {
		return homeView{}
	}
	var open []string
	add := func(path string) {
		real, err := paths.Resolve(path)
		if err != nil || real == "/" || real == home || slices.Contains(open, real) || !paths.Within(home, real) {
			return
		}
		if _, err := os.Lstat(real); err == nil {
			open = append(open, real)
		}
	}
	for _, root := range p.Roots {
		real, err := paths.Resolve(root)
		v.Is = v.Is || err == nil && paths.Within(real, home)
		add(root)
		for _, dir := range gitElsewhere(root) {
			add(dir)
		}
	}
	for _, dir := range slices.Concat(p.Caches, more, []string{p.Cache, p.Temp, os.TempDir()}) {
		if dir != "" {
			add(dir)
		}
	}
	for _, dir := range filepath.SplitList(variable(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		add(dir)
		if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" && filepath.Base(prefix) != ".local" {
			add(prefix)
		}
		for _, target := range linked(dir) {
			add(target)
		}
	}
	for _, name := range homeReadable {
		if path := filepath.Join(home, filepath.FromSlash(name)); !holdsToken(path) {
			add(path)
		}
	}
	for _, name := range homePrivate {
		path := filepath.Join(home, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil && !slices.ContainsFunc(open, func(o string) bool { return o == path || paths.Within(path, o) }) {
			v.Closed = append(v.Closed, path)
		}
	}
	v.Closed = append(v.Closed, secretsIn(home, open)...)
	v.Home, v.Open = home, open
	return v
}

// secretsIn returns the files with keys in the folders of tools that may be read: by their names, or by what is in
// those that are settings. What is opened by itself, such as the workspace, is left alone.
func secretsIn(home string, open []string) (out []string) {
	for _, name := range homeReadable {
		dir := filepath.Join(home, filepath.FromSlash(name))
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); secretName(e.Name()) && !slices.ContainsFunc(open, func(o string) bool { return paths.Within(path, o) }) {
				out = append(out, path)
			}
		}
	}
	for _, name := range homeSettings {
		if path := filepath.Join(home, filepath.FromSlash(name)); holdsToken(path) {
			out = append(out, path)
		}
	}
	return out
}

// secretName reports whether a file or folder is one of keys or of what a person typed, by its name.
func secretName(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "id_rsa") || strings.HasPrefix(name, "id_ed25519") || strings.HasPrefix(name, "id_ecdsa") {
		return true
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("._- ", r) }), func(word string) bool {
		switch word {
		case "credential", "credentials", "creds", "secret", "secrets", "token", "tokens", "password", "passwords", "passwd", "netrc", "keystore", "keystores", "keyring", "keyrings", "wallet", "wallets", "history", "authinfo", "cookies":
			return true
		}
		return false
	})
}

// private returns what must not be read, as the largest parts that hold nothing that may be. If the home
// folder is the workspace, its folders that are not hidden are the project.
func (v homeView) private() (out []string) {
	if v.Home == "" {
		return nil
	}
	out = slices.Clone(v.Closed)
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case below(path, v.Open) || e.Type()&os.ModeSymlink != 0:
			case holds(path, v.Open) && depth < 12:
				walk(path, depth+1)
			case v.Is && dir == v.Home && !strings.HasPrefix(e.Name(), "."):
			default:
				out = append(out, path)
			}
		}
	}
	walk(v.Home, 0)
	return out
}

// holdsToken reports whether a settings file of npm or git has a key in it.
func holdsToken(path string) bool {
	settings := slices.ContainsFunc(homeSettings[:], func(name string) bool { return strings.HasSuffix(filepath.ToSlash(path), "/"+name) })
	switch filepath.Base(path) {
	case ".npmrc", ".yarnrc", ".curlrc", ".wgetrc", ".gemrc", "pip.conf", ".condarc", ".gitconfig":
	default:
		if !settings {
			return false
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return false
	}
	data, err := paths.ReadFile(path, 1<<20)
	if err != nil {
		return false
	}
	low := bytes.ToLower(data)
	if filepath.Base(path) == ".gitconfig" || strings.HasSuffix(filepath.ToSlash(path), ".config/git/config") { // git needs it: only with a password in an address it is private
		return bytes.Contains(low, []byte("extraheader")) || credentialAddress(low)
	}
	for _, word := range []string{"_auth", "_password", "password", "token", "user =", "--user", "user=", "http-basic", "github-oauth", "secret", "api_key", "apikey"} {
		if bytes.Contains(low, []byte(word)) {
			return true
		}
	}
	return credentialAddress(low)
}

// credentialAddress reports whether a text has an address with a name and a password.
func credentialAddress(text []byte) bool {
	for rest := text; ; {
		i := bytes.Index(rest, []byte("://"))
		if i < 0 {
			return false
		}
		rest = rest[i+3:]
		end := bytes.IndexAny(rest, "/ \t\r\n\"'")
		if end < 0 {
			end = len(rest)
		}
		if name, _, ok := bytes.Cut(rest[:end], []byte("@")); ok && bytes.Contains(name, []byte(":")) {
			return true
		}
	}
}

// gitElsewhere returns the folders outside a work tree that git needs there: the repository that its .git file
// names, and those whose objects it uses.
func gitElsewhere(root string) (out []string) {
	git := filepath.Join(root, ".git")
	if data, err := paths.ReadFile(git, 1<<12); err == nil && len(data) < 1<<12 {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:"); ok {
			if dir = strings.TrimSpace(dir); !filepath.IsAbs(dir) {
				dir = filepath.Join(root, dir)
			}
			git, out = dir, append(out, dir)
			if common, err := paths.ReadFile(filepath.Join(dir, "commondir"), 1<<12); err == nil && len(common) < 1<<12 {
				if git = strings.TrimSpace(string(common)); !filepath.IsAbs(git) {
					git = filepath.Join(dir, git)
				}
				out = append(out, git)
			}
		}
	}
	if data, err := paths.ReadFile(filepath.Join(git, "objects", "info", "alternates"), 1<<16); err == nil && len(data) < 1<<16 {
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); filepath.IsAbs(line) {
				out = append(out, line)
			}
		}
	}
	return slices.DeleteFunc(out, func(dir string) bool { // what is no repository is not made readable
		_, head := os.Stat(filepath.Join(dir, "HEAD"))
		return head != nil && filepath.Base(dir) != "objects"
	})
}

// maxOpen bounds how many parts of a home folder are opened one by one.
const maxOpen = 400

// writableParts returns what of a workspace's folder may be written: all of it, unless it contains the home
// folder. There, and in the folders above it, only what exists and is not hidden is open: a start-up file that
// does not exist yet can't be made.
func writableParts(root, home string) []string {
	root, err := paths.Resolve(root)
	if err != nil {
		return nil
	}
	if home, err = paths.Resolve(home); err != nil || home == "" || !paths.Within(root, home) {
		return []string{root}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
		case root != home && paths.Within(path, home):
			out = append(out, writableParts(path, home)...)
		case root == home && (strings.HasPrefix(e.Name(), ".") || startsPrograms(e.Name())):
		case e.IsDir() || e.Type().IsRegular():
			out = append(out, path)
		}
	}
	return out[:min(len(out), maxOpen)]
}

// startsPrograms reports whether a folder of a home is one whose files a login or a desktop runs.
func startsPrograms(name string) bool {
	return slices.Contains([]string{"bin", "sbin", "Library", "Applications", "AppData", "Desktop", "snap", "go"}, name)
}
