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
	// Roots are files whose folder is the root of a project. For those that begin with "^" the
	// outermost one inside the workspace is used, otherwise the innermost.
	Roots []string
	// Settings is the answer to workspace/configuration, and is sent as initialization options.
	Settings any
	// Env is set in the server's environment.
	Env map[string]string
	// Own says that the server was configured: it needs no root marker.
	Own bool
}

// known are the servers that jcode looks for. If there are several for a file type, the first
// that is installed is used.
func known() []Server {
	js := []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}
	jsRoots := []string{"tsconfig.json", "jsconfig.json", "package.json"}
	python := []string{".py", ".pyi"}
	pythonRoots := []string{"pyproject.toml", "pyrightconfig.json", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}
	return []Server{
		// Without the setting it reports on the changed file first, and a second later on the packages that the
		// change may have broken.
		{Name: "gopls", Command: []string{"gopls"}, Files: []string{".go"}, Roots: []string{"^go.work", "go.mod"}, Settings: map[string]any{"diagnosticsDelay": "0s"}},
		{Name: "rust-analyzer", Command: []string{"rust-analyzer"}, Files: []string{".rs"}, Roots: []string{"^Cargo.toml"}},
		{Name: "clangd", Command: []string{"clangd"}, Files: []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".m", ".mm"}, Roots: []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile", "meson.build"}},
		{Name: "typescript-language-server", Command: []string{"typescript-language-server", "--stdio"}, Files: js, Roots: jsRoots},
		{Name: "vtsls", Command: []string{"vtsls", "--stdio"}, Files: js, Roots: jsRoots},
		{Name: "basedpyright", Command: []string{"basedpyright-langserver", "--stdio"}, Files: python, Roots: pythonRoots},
		{Name: "pyright", Command: []string{"pyright-langserver", "--stdio"}, Files: python, Roots: pythonRoots},
		{Name: "pylsp", Command: []string{"pylsp"}, Files: python, Roots: pythonRoots},
		{Name: "ruff", Command: []string{"ruff", "server"}, Files: python, Roots: append([]string{"ruff.toml", ".ruff.toml"}, pythonRoots...)},
		{Name: "lua-language-server", Command: []string{"lua-language-server"}, Files: []string{".lua"}, Roots: []string{".luarc.json", ".luarc.jsonc", "stylua.toml"}},
		{Name: "zls", Command: []string{"zls"}, Files: []string{".zig"}, Roots: []string{"build.zig"}},
		{Name: "jdtls", Command: []string{"jdtls"}, Files: []string{".java"}, Roots: []string{"^pom.xml", "^settings.gradle", "^settings.gradle.kts", "build.gradle", "build.gradle.kts"}},
		{Name: "kotlin-lsp", Command: []string{"kotlin-lsp", "--stdio"}, Files: []string{".kt", ".kts"}, Roots: []string{"^settings.gradle.kts", "build.gradle.kts", "build.gradle", "pom.xml"}},
		{Name: "csharp-ls", Command: []string{"csharp-ls"}, Files: []string{".cs"}, Roots: []string{"global.json", "Directory.Build.props"}},
		{Name: "ruby-lsp", Command: []string{"ruby-lsp"}, Files: []string{".rb", ".rake"}, Roots: []string{"Gemfile"}},
		{Name: "solargraph", Command: []string{"solargraph", "stdio"}, Files: []string{".rb"}, Roots: []string{"Gemfile"}},
		{Name: "intelephense", Command: []string{"intelephense", "--stdio"}, Files: []string{".php"}, Roots: []string{"composer.json"}},
		{Name: "elixir-ls", Command: []string{"elixir-ls"}, Files: []string{".ex", ".exs"}, Roots: []string{"mix.exs"}},
		{Name: "haskell-language-server", Command: []string{"haskell-language-server-wrapper", "--lsp"}, Files: []string{".hs"}, Roots: []string{"cabal.project", "stack.yaml", "package.yaml"}},
		{Name: "ocamllsp", Command: []string{"ocamllsp"}, Files: []string{".ml", ".mli"}, Roots: []string{"dune-project"}},
		{Name: "metals", Command: []string{"metals"}, Files: []string{".scala", ".sbt"}, Roots: []string{"build.sbt", "build.sc"}},
		{Name: "sourcekit-lsp", Command: []string{"sourcekit-lsp"}, Files: []string{".swift"}, Roots: []string{"Package.swift"}},
		{Name: "dart", Command: []string{"dart", "language-server"}, Files: []string{".dart"}, Roots: []string{"pubspec.yaml"}},
		{Name: "gleam", Command: []string{"gleam", "lsp"}, Files: []string{".gleam"}, Roots: []string{"gleam.toml"}},
		{Name: "svelte", Command: []string{"svelteserver", "--stdio"}, Files: []string{".svelte"}, Roots: jsRoots},
		{Name: "bash-language-server", Command: []string{"bash-language-server", "start"}, Files: []string{".sh", ".bash"}},
		{Name: "terraform-ls", Command: []string{"terraform-ls", "serve"}, Files: []string{".tf", ".tfvars"}, Roots: []string{".terraform", "main.tf"}},
		{Name: "yaml-language-server", Command: []string{"yaml-language-server", "--stdio"}, Files: []string{".yaml", ".yml"}},
		{Name: "vscode-json-language-server", Command: []string{"vscode-json-language-server", "--stdio"}, Files: []string{".json", ".jsonc"}},
		{Name: "vscode-css-language-server", Command: []string{"vscode-css-language-server", "--stdio"}, Files: []string{".css", ".scss", ".less"}},
		{Name: "vscode-html-language-server", Command: []string{"vscode-html-language-server", "--stdio"}, Files: []string{".html"}},
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

// languageID is the protocol's name of a file's language.
func languageID(path string) string {
	ext := strings.TrimPrefix(filepath.Ext(path), ".")
	switch ext {
	case "rs":
		return "rust"
	case "ts", "mts", "cts":
		return "typescript"
	case "tsx":
		return "typescriptreact"
	case "js", "mjs", "cjs":
		return "javascript"
	case "jsx":
		return "javascriptreact"
	case "py", "pyi":
		return "python"
	case "rb", "rake":
		return "ruby"
	case "sh", "bash":
		return "shellscript"
	case "h", "m":
		return "c"
	case "cc", "cxx", "hpp", "hh", "mm":
		return "cpp"
	case "cs":
		return "csharp"
	case "kt", "kts":
		return "kotlin"
	case "ex", "exs":
		return "elixir"
	case "hs":
		return "haskell"
	case "ml", "mli":
		return "ocaml"
	case "tf", "tfvars":
		return "terraform"
	case "yml":
		return "yaml"
	case "tex":
		return "latex"
	case "":
		return "plaintext"
	}
	return ext
}
