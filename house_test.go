package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// allowed lists, per room, the rooms that it may import; "*" is all of them. A room that
// is not listed here must be added on purpose. Every room may import internal/ packages,
// and a room may import its own subpackages' parents only where it is said.
var allowed = table(`
main: cli
cli: *
cli/acp: agent agent/event agent/model session tools tools/command tools/permission
cli/agents: agent agent/crew agent/roster cli/board cli/core cli/roles cli/usage cli/worktrees session session/role tools tools/command
cli/worktrees: agent agent/event agent/roster cli/board cli/console cli/core cli/health cli/undo session skills/instructions tools tools/builtin tools/command
cli/workplace: agent agent/event cli/core session skills/instructions tools tools/builtin tui/front
cli/board: agent agent/event tools tools/builtin
cli/console:
cli/changes: agent agent/event cli/core cli/undo session tools tools/builtin
cli/attach: remote tui/screen
cli/live: agent/event/wire cli/console remote session
cli/background: agent agent/event agent/roster cli/attach cli/console cli/core cli/live remote remote/relay session tools/builtin tools/command tui/front
cli/sessions: agent agent/event agent/event/wire cli/board cli/console cli/core cli/live cli/outputs cli/undo remote session session/export tools tools/command
cli/print: agent agent/crew agent/event agent/event/wire agent/model agent/roster cli/console cli/structured tools
cli/config: *
cli/core: agent tools tools/command
cli/debuglog: agent agent/event cli/console cli/core tools
cli/health:
cli/demo: agent agent/event agent/model cli/console cli/mcp cli/print cli/tour mcp/auth tools
cli/doctor: cli/console cli/health session tasks tasks/clone tools/command
cli/documents: agent agent/event agent/model/chat agent/model/provider cli/board cli/console cli/core session session/role tools tools/builtin/web tools/retrieval
cli/mcp: agent agent/event cli/board cli/console cli/core cli/health cli/plugins lua mcp mcp/auth mcp/config mcp/serve session tools tools/builtin tools/command tools/sandbox
cli/editors: agent agent/event agent/model/provider cli/acp cli/board cli/console cli/core mcp/config page session tools tools/command
cli/eval: cli/console
cli/hooks: agent agent/event cli/board cli/config cli/core cli/plugins cli/undo hooks session session/role tools tools/builtin tools/command tools/sandbox
cli/lsp: agent agent/event cli/board cli/config cli/core cli/health cli/plugins tools tools/builtin tools/lsp tools/sandbox
cli/lua: agent agent/event cli/board cli/console cli/core cli/health lua lua/pool session tools tools/command tools/permission
cli/manual: cli/console docs tools/command tui/markdown
cli/typed: session
cli/memory: agent agent/event cli/console notes session tools tools/command
cli/mentions:
cli/models: agent agent/event agent/model agent/model/catalogue agent/model/dial agent/model/provider agent/model/replay cli/config cli/console cli/health session tools/command tui/front
cli/permissions: agent/event cli/config cli/console cli/core session tools tools/command tools/permission
cli/confinement: agent/event agent/model/provider cli/config cli/health cli/web session tools tools/builtin tools/sandbox
cli/windows: agent agent/event agent/history cli/core cli/undo remote session tools/command
cli/web: cli/config cli/console cli/health tools tools/builtin/web
cli/outputs: cli/pursuit session tools
cli/plugins: agent agent/event cli/console cli/core cli/health hooks mcp/config plugins session/role skills tools tools/command tools/lsp tools/sandbox
cli/prompt: agent
cli/pursuit: agent/event
cli/feed: agent agent/event agent/model cli/console cli/print cli/stream mcp mcp/config mcp/wire remote
cli/goal: agent agent/model cli/core cli/pursuit tools/command
cli/review: agent/event cli/board cli/console tools/command tools/permission/repository
cli/roles: agent agent/event agent/model cli/board cli/config cli/console cli/core cli/hooks notes session session/role skills tools tools/command tools/retrieval
cli/skills: agent agent/event cli/board cli/config cli/console cli/core session skills skills/instructions tools tools/command
cli/shell: cli/attach cli/outputs tools tools/builtin tools/command
cli/stream:
cli/structured:
cli/tasklist: tasks
cli/tasks: cli/board cli/config cli/console cli/core cli/tasklist page session session/export tasks tasks/clone tasks/queue tools tools/command
cli/worker: agent agent/event cli/config cli/console cli/tasks session tasks tasks/clone tasks/queue tools tools/permission
cli/serve: agent/event/wire agent/history cli/background cli/console cli/core cli/live page remote session session/export tools/command
cli/tour:
cli/undo: agent agent/event cli/board cli/core cli/health session tools tools/builtin tools/command
cli/telemetry: agent/event agent/model tools
cli/usage: cli/console session tools/command
cli/update: cli/console
cli/switching: agent/model/provider cli/config cli/console hooks mcp/config tools/permission
tui: tui/clipboard tui/dialog tui/front tui/editor tui/keyboard tui/look tui/markdown tui/screen tui/transcript agent agent/event agent/model agent/roster session tools tools/command tools/permission
tui/look: tui/editor tui/markdown
tui/clipboard:
tui/front: tui/look tui/transcript agent agent/event agent/roster session tools tools/command
tui/plain: tui/dialog tui/front tui/look tui/transcript agent/event session tools tools/command
tui/tuitest: tui/front agent/event session tools
tui/dialog: tui/editor tui/keyboard tui/look tui/transcript agent/event tools tools/command
tui/transcript: tui/look tui/markdown agent/event agent/model session tools
tui/markdown:
tui/editor:
tui/keyboard:
tui/screen:
agent: agent/crew agent/event agent/history agent/model agent/roster tools session
agent/event: agent/model agent/roster tools
agent/crew: agent/event agent/roster session tools
agent/event/wire: agent/event agent/model agent/roster tools
agent/history: agent/event agent/model session tools
agent/roster: tools
agent/model:
agent/model/catalogue: agent/model
agent/model/provider: agent/model/catalogue
agent/model/credential: agent/model/provider
agent/model/endpoint: agent/model agent/model/credential agent/model/provider
agent/model/chat: agent/model agent/model/catalogue agent/model/provider agent/model/endpoint
agent/model/replay: agent/model agent/model/endpoint
agent/model/anthropic: agent/model agent/model/catalogue agent/model/provider agent/model/endpoint
agent/model/responses: agent/model agent/model/catalogue agent/model/provider agent/model/endpoint
agent/model/gemini: agent/model agent/model/catalogue agent/model/provider agent/model/endpoint
agent/model/dial: agent/model agent/model/credential agent/model/provider agent/model/chat agent/model/anthropic agent/model/responses agent/model/gemini
tools:
tools/command:
tools/builtin: tools tools/permission tools/permission/repository tools/sandbox
tools/builtin/desk: tools
tools/builtin/web: tools tools/permission
tools/permission: tools tools/permission/repository tools/permission/shell
tools/permission/repository:
tools/permission/shell: tools/permission/repository
tools/sandbox:
tools/lsp: tools tools/command tools/lsp/protocol
tools/lsp/protocol:
tools/retrieval: tools tools/command session
mcp: tools tools/command mcp/auth mcp/config mcp/schema mcp/wire
mcp/auth:
mcp/config: mcp/auth
mcp/schema:
mcp/serve: tools
mcp/wire: mcp/auth mcp/config mcp/schema
skills: tools tools/command
tasks:
tasks/clone:
tasks/queue: tasks
skills/instructions: tools/command
hooks: tools
plugins: hooks
remote: agent/event agent/event/wire agent/model tools
page: agent/event/wire remote session/export tools
remote/relay: remote
notes: tools tools/command
lua: tools tools/command lua/manifest lua/pool lua/wire
lua/manifest: tools lua/wire
lua/pool: tools lua/wire
lua/host: lua/wire
lua/wire:
docs:
session: session/db session/role session/words
session/db:
session/role:
session/words:
session/export: session
bench: *
packaging:
sdk/go:
`)

// table reads a line for each room: its name, and what it may import.
func table(text string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		room, may, _ := strings.Cut(strings.TrimSpace(line), ":")
		if room == "main" {
			room = ""
		}
		out[room] = strings.Fields(may)
	}
	return out
}

// exclusive names the packages that only one room may import.
var exclusive = map[string][]string{
	"github.com/yuin/gopher-lua":            {"lua/host"},
	"github.com/coder/acp-go-sdk":           {"cli/acp"},
	"github.com/coder/websocket":            {"page"},
	"github.com/aws/aws-sdk-go-v2":          {"agent/model/credential", "agent/model/anthropic", "internal/testkit/cloudtest"},
	"github.com/modelcontextprotocol":       {"mcp", "mcp/auth", "mcp/serve", "mcp/wire", "internal/testkit/mcptest"},
	"github.com/golang-jwt/jwt":             {"mcp/auth"},
	"github.com/sashabaranov/go-openai":     {"agent/model/chat", "agent/model/responses"},
	"modernc.org/sqlite":                    {"session/db", "tasks", "internal/foreign", "internal/testkit/foreigntest"},
	"github.com/riverqueue/river":           {"tasks/queue"},
	"github.com/lib/pq":                     {"tasks", "internal/testkit/postgrestest"},
	"github.com/robfig/cron":                {"tasks"},
	"charm.land/":                           {"tui", "internal/"},
	"github.com/charmbracelet/":             {"tui", "internal/", "cli"},
	"github.com/charmbracelet/glamour":      {},
	"github.com/spf13/pflag":                {"internal/commandline"},
	"github.com/alecthomas/chroma/v2/style": {},
}

type file struct {
	room    string // folder below the module's root
	path    string
	test    bool
	lines   int
	imports []string
	doc     bool
	ast     *ast.File
}

// houseFiles returns all Go files of the module, which are read once for all tests.
func houseFiles(t *testing.T) []file {
	t.Helper()
	files, err := readHouse()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var readHouse = sync.OnceValues(func() (files []file, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "dist") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if room == "." {
			room = ""
		}
		f := file{room: room, path: path, test: strings.HasSuffix(path, "_test.go"), doc: parsed.Doc != nil, ast: parsed, lines: fset.File(parsed.FileStart).LineCount() - 1}
		for _, imp := range parsed.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, name)
		}
		files = append(files, f)
		return nil
	})
	return files, err
})

func TestRoomsImportOnlyWhatTheHouseAllows(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || strings.HasPrefix(f.room, "internal/") {
			continue
		}
		may, known := allowed[f.room]
		if !known {
			t.Errorf("%s: the room %q is not in the table of the house", f.path, f.room)
			continue
		}
		for _, imp := range f.imports {
			room, own := strings.CutPrefix(imp, "jcode/")
			if !own || strings.HasPrefix(room, "internal/") {
				continue
			}
			if !contains(may, room) && !contains(may, "*") {
				t.Errorf("%s: %q may not import %q", f.path, f.room, room)
			}
		}
	}
}

func TestInternalPackagesKnowNoRoom(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || !strings.HasPrefix(f.room, "internal/") {
			continue
		}
		for _, imp := range f.imports {
			if room, own := strings.CutPrefix(imp, "jcode/"); own && !strings.HasPrefix(room, "internal/") {
				t.Errorf("%s: internal packages have no domain, this one imports %q", f.path, room)
			}
		}
	}
}

func TestOnlyTestsAndTheBenchUseTheTestKit(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || f.room == "bench" || strings.HasPrefix(f.room, "internal/testkit/") {
			continue
		}
		for _, imp := range f.imports {
			if strings.HasPrefix(imp, "jcode/internal/testkit/") {
				t.Errorf("%s: the product may not import %q", f.path, imp)
			}
		}
	}
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			longest := ""
			for prefix := range exclusive {
				if strings.HasPrefix(imp, prefix) && len(prefix) > len(longest) {
					longest = prefix
				}
			}
			if longest == "" {
				continue
			}
			ok := false
			for _, room := range exclusive[longest] {
				ok = ok || f.room == strings.TrimSuffix(room, "/") || strings.HasPrefix(f.room+"/", strings.TrimSuffix(room, "/")+"/")
			}
			if !ok {
				t.Errorf("%s: %s belongs to %v", f.path, imp, exclusive[longest])
			}
		}
	}
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	docs := map[string]bool{}
	for _, f := range houseFiles(t) {
		if !f.test {
			docs[f.room] = docs[f.room] || f.doc
		}
	}
	for room, ok := range docs {
		if !ok {
			t.Errorf("package %q has no doc comment", room)
		}
	}
}

func TestNothingRunsAtPackageInit(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test {
			continue
		}
		shipped := f.room != "bench" && !strings.HasPrefix(f.room, "internal/testkit/")
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init", f.path)
			}
			if vars, ok := decl.(*ast.GenDecl); ok && shipped && compiles(vars) {
				t.Errorf("%s: an expression is compiled at every start: pattern.Lazy compiles it at its first use", f.path)
			}
		}
	}
}

// compiles reports whether a declaration compiles a regular expression when the program starts.
func compiles(vars *ast.GenDecl) (found bool) {
	ast.Inspect(vars, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // called later, or not at all
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			found = found || ok && pkg.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile")
		}
		return true
	})
	return found
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
