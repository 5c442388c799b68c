package lsp

import (
	"path/filepath"
	"slices"
	"strings"
)

// Server describes how one language server is started, and for which files.
type Server struct {
	// Name is its name for people: "gopls".
	Name string
	// Command is the program and its arguments.
	Command []string
	// Files are extensions (".go") or whole names ("go.mod").
	Files []string
	// Roots are names ("go.mod") or patterns ("*.sln") of files whose folder is the root of a project. For those
	// that begin with "^" the outermost one inside the workspace is used, otherwise the innermost. Without one,
	// the workspace's folder is the root.
	Roots []string
	// Whole says that one server does for the workspace's folder, whatever markers are below it.
	Whole bool
	// Settings is the answer to workspace/configuration, and is sent as initialization options.
	Settings any
	// Env is set in the server's environment.
	Env map[string]string
	// Own says that the server was configured: it needs no root marker.
	Own bool
	// Personal says that the person configured it themselves; Plugin names the plugin that brought it.
	Personal bool
	Plugin   string
	// Python says that it needs the project's Python environment; Interpreter is the setting that names it,
	// if it has one ("python.pythonPath").
	Python      bool
	Interpreter string
	// OpenOnly says that it knows only the files that are open, unless an index was made of the others.
	OpenOnly bool
}

type settings = map[string]any

// known are the servers that jcode looks for. If there are several for a file type, the first
// that is installed is used. Settings are what the editors of their makers send: some servers check nothing
// without.
func known() []Server {
	js := []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}
	jsRoots := []string{"^package.json", "^tsconfig.json", "^jsconfig.json"}
	python := []string{".py", ".pyi"}
	pythonRoots := []string{"pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}
	css := settings{"validate": true, "lint": settings{}}
	return []Server{
		// Without the first setting it reports on the changed file first, and a second later on the packages that
		// the change may have broken. With the second, a search for a name does not load all libraries.
		{Name: "gopls", Command: []string{"gopls"}, Files: []string{".go"}, Roots: []string{"^go.work", "go.mod"}, Settings: settings{"diagnosticsDelay": "0s", "symbolScope": "workspace"}},
		{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Files: []string{".rs"}, Roots: []string{"^Cargo.toml"}},
		{Name: "clangd", Command: []string{"clangd"}, Files: []string{".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".m", ".mm", ".cu"}, Roots: []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile", "meson.build"}, Whole: true, OpenOnly: true},
		{Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"}, Files: js, Roots: jsRoots},
		{Name: "vtsls", Command: []string{"vtsls", "--stdio"}, Files: js, Roots: jsRoots},
		{Name: "basedpyright", Command: []string{"basedpyright-langserver", "--stdio"}, Files: python, Roots: pythonRoots, Python: true, Interpreter: "python.pythonPath"},
		{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Files: python, Roots: pythonRoots, Python: true, Interpreter: "python.pythonPath"},
		{Name: "ty", Command: []string{"ty", "server"}, Files: python, Roots: append([]string{"ty.toml"}, pythonRoots...), Python: true},
		{Name: "pylsp", Command: []string{"pylsp"}, Files: python, Roots: pythonRoots, Python: true, Interpreter: "pylsp.plugins.jedi.environment"},
		{Name: "ruff", Command: []string{"ruff", "server"}, Files: python, Roots: append([]string{"ruff.toml", ".ruff.toml"}, pythonRoots...), Python: true},
		{Name: "lua-language-server", Command: []string{"lua-language-server"}, Files: []string{".lua"}, Roots: []string{".luarc.json", ".luarc.jsonc", "stylua.toml"}},
		{Name: "zls", Command: []string{"zls"}, Files: []string{".zig"}, Roots: []string{"build.zig"}},
		{Name: "jdtls", Command: []string{"jdtls"}, Files: []string{".java"}, Roots: []string{"^pom.xml", "^settings.gradle", "^settings.gradle.kts", "build.gradle", "build.gradle.kts"}},
		{Name: "kotlin-lsp", Command: []string{"kotlin-lsp", "--stdio"}, Files: []string{".kt", ".kts"}, Roots: []string{"^settings.gradle.kts", "^settings.gradle", "build.gradle.kts", "build.gradle", "pom.xml"}},
		{Name: "csharp-ls", Command: []string{"csharp-ls"}, Files: []string{".cs"}, Roots: []string{"*.sln", "*.slnx", "*.csproj"}},
		{Name: "ruby-lsp", Command: []string{"ruby-lsp"}, Files: []string{".rb", ".rake"}, Roots: []string{"Gemfile"}},
		{Name: "solargraph", Command: []string{"solargraph", "stdio"}, Files: []string{".rb"}, Roots: []string{"Gemfile"}},
		{Name: "intelephense", Command: []string{"intelephense", "--stdio"}, Files: []string{".php"}, Roots: []string{"composer.json"}},
		{Name: "elixir-ls", Command: []string{"elixir-ls"}, Files: []string{".ex", ".exs"}, Roots: []string{"^mix.exs"}},
		{Name: "haskell-language-server", Command: []string{"haskell-language-server-wrapper", "--lsp"}, Files: []string{".hs"}, Roots: []string{"cabal.project", "stack.yaml", "*.cabal", "package.yaml"}},
		{Name: "ocamllsp", Command: []string{"ocamllsp"}, Files: []string{".ml", ".mli"}, Roots: []string{"^dune-project"}},
		{Name: "metals", Command: []string{"metals"}, Files: []string{".scala", ".sbt"}, Roots: []string{"^build.sbt", "^build.sc"}},
		{Name: "sourcekit-lsp", Command: []string{"sourcekit-lsp"}, Files: []string{".swift"}, Roots: []string{"Package.swift", "*.xcodeproj"}},
		{Name: "dart", Command: []string{"dart", "language-server"}, Files: []string{".dart"}, Roots: []string{"^pubspec.yaml"}},
		{Name: "gleam", Command: []string{"gleam", "lsp"}, Files: []string{".gleam"}, Roots: []string{"gleam.toml"}},
		{Name: "svelte", Command: []string{"svelteserver", "--stdio"}, Files: []string{".svelte"}, Roots: jsRoots},
		{Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Files: []string{".sh", ".bash"}, Settings: settings{"bashIde": settings{}}},
		{Name: "terraform-ls", Command: []string{"terraform-ls", "serve"}, Files: []string{".tf", ".tfvars"}},
		{Name: "yaml-language-server", Command: []string{"yaml-language-server", "--stdio"}, Files: []string{".yaml", ".yml"}, Settings: settings{"yaml": settings{"validate": true, "hover": true}}},
		{Name: "vscode-json-language-server", Command: []string{"vscode-json-language-server", "--stdio"}, Files: []string{".json", ".jsonc"}, Settings: settings{"json": settings{"validate": settings{"enable": true}}}},
		{Name: "vscode-css-language-server", Command: []string{"vscode-css-language-server", "--stdio"}, Files: []string{".css", ".scss", ".less"}, Settings: settings{"css": css, "scss": css, "less": css}},
		{Name: "vscode-html-language-server", Command: []string{"vscode-html-language-server", "--stdio"}, Files: []string{".html"}, Settings: settings{"html": settings{"validate": settings{"scripts": true, "styles": true}}, "css": css, "javascript": settings{"validate": settings{"enable": true}}}},
		{Name: "nixd", Command: []string{"nixd"}, Files: []string{".nix"}, Roots: []string{"flake.nix"}},
		{Name: "texlab", Command: []string{"texlab"}, Files: []string{".tex", ".bib"}},
	}
}

// serves reports whether the server handles a file.
func (s Server) serves(path string) bool {
	base := filepath.Base(path)
	return slices.ContainsFunc(s.Files, func(f string) bool {
		return f == base || strings.HasPrefix(f, ".") && filepath.Ext(base) == f
	})
}

// languages are the protocol's names of languages whose files end otherwise.
func languages() map[string]string {
	return map[string]string{
		"rs": "rust", "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "typescriptreact",
		"js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascriptreact",
		"py": "python", "pyi": "python", "rb": "ruby", "rake": "ruby", "sh": "shellscript", "bash": "shellscript",
		"h": "c", "m": "objective-c", "mm": "objective-cpp", "cu": "cuda-cpp",
		"cc": "cpp", "cxx": "cpp", "c++": "cpp", "hpp": "cpp", "hh": "cpp", "hxx": "cpp",
		"cs": "csharp", "kt": "kotlin", "kts": "kotlin", "ex": "elixir", "exs": "elixir", "hs": "haskell",
		"ml": "ocaml", "mli": "ocaml.interface", "tf": "terraform", "tfvars": "terraform-vars", "yml": "yaml",
		"tex": "latex", "bib": "bibtex", "sbt": "scala", "gradle": "groovy", "": "plaintext",
	}
}

// languageID is the protocol's name of a file's language.
func languageID(path string) string {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if id, ok := languages()[ext]; ok {
		return id
	}
	return ext
}
