package main

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// The dispatcher is the one way to the gate: it reports decisions, and adds the reason to
// refusals. Others call Dispatcher.Judge. A gate that stands before another one may ask that
// from its own Check.
func TestOnlyTheDispatcherAsksTheGate(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || f.room == "tools" {
			continue
		}
		packages := map[string]bool{} // by the names that the file gives them
		for _, imp := range f.ast.Imports {
			if imp.Name != nil {
				packages[imp.Name.Name] = true
			} else if name, ok := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), "jcode/"); ok {
				packages[path.Base(name)] = true
			}
		}
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && (fn.Recv == nil || fn.Name.Name != "Check") {
				if asksGate(fn, packages) {
					t.Errorf("%s: %s asks the gate itself: call Dispatcher.Judge", f.path, fn.Name.Name)
				}
			}
		}
	}
}

// asksGate reports whether a function calls a method of a gate's form: Check(ctx, request). A function Check of a package,
// such as a feature's check for the doctor, is none.
func asksGate(fn *ast.FuncDecl, packages map[string]bool) (asks bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 2 {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Check" {
				of, named := sel.X.(*ast.Ident)
				asks = asks || !named || !packages[of.Name]
			}
		}
		return true
	})
	return asks
}

// The options of the terminal UI stay as they were given: whatever changes has a place of its
// own in the program.
func TestOptionsOfTheTerminalAreNeverWritten(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || f.room != "tui" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			assign, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for _, left := range assign.Lhs {
				if sel, ok := left.(*ast.SelectorExpr); ok && isOptions(sel) {
					t.Errorf("%s writes %s of the options", f.path, sel.Sel.Name)
				}
			}
			return true
		})
	}
}

// isOptions reports whether a selector is x.opt, or a field of it.
func isOptions(sel *ast.SelectorExpr) bool {
	inner, ok := sel.X.(*ast.SelectorExpr)
	return sel.Sel.Name == "opt" || ok && inner.Sel.Name == "opt"
}

// A file holds one idea. Tests are held to the same limit, except those that are listed: long
// tables of cases, or many short tests that share one kit and are looked up by name.
const (
	maxLines   = 400
	maxMethods = 60
)

// longTests are the test files that may exceed the limit.
var longTests = strings.Fields(`
agent/conversation_test.go
agent/model/chat/client_test.go
agent/model/chat/refusal_test.go
cli/acp/client_test.go
internal/proc/proc_test.go
lua/approval_test.go
lua/host/guards_test.go
lua/hostile_test.go
lua/intents_test.go
lua/kit_test.go
lua/plugin_test.go
lua/reload_test.go
session/role/role_test.go
session/sessions_test.go
skills/skills_test.go
tools/builtin/edit_test.go
tools/builtin/exec_test.go
tools/lsp/lsp_test.go
tools/permission/ask_test.go
tools/retrieval/retrieval_test.go
tools/sandbox/sandbox_test.go
`)

func TestFilesAreShort(t *testing.T) {
	long := map[string]bool{}
	for _, f := range houseFiles(t) {
		if f.lines <= maxLines {
			continue
		}
		path := filepath.ToSlash(f.path)
		long[path] = true
		if !contains(longTests, path) {
			t.Errorf("%s has %d lines, the limit is %d: divide it by idea", path, f.lines, maxLines)
		}
	}
	for _, path := range longTests {
		if !long[path] {
			t.Errorf("%s is within the limit: take it off longTests", path)
		}
	}
}

// asksSystem are the files that may ask which system this is, or name this process in /proc,
// each with its reason. All others ask internal/system, or have a file per system.
var asksSystem = map[string]string{
	"internal/system/executable_linux.go": "is the owner of the path of this program",
	"internal/system/space_linux.go":      "reads how much of its own memory is mapped",
	"bench/main.go":                       "leaves out figures that are measured on Linux only",
	"cli/doctor/machine.go":               "names the system to the person",
	"cli/prompt/prompt.go":                "names the system to the model",
	"cli/openroles.go":                    "names the system to roles",
	"packaging/contents.go":               "runs the program that it builds, which has a suffix on Windows",
	"tools/sandbox/policy.go":             "names the system that has no sandbox",
	"tools/sandbox/shield_linux.go":       "mounts what it holds open, which has no other name any more",
}

func TestTheSystemIsAskedInOnePlace(t *testing.T) {
	asks := map[string]bool{}
	for _, f := range houseFiles(t) {
		if f.test {
			continue
		}
		path := filepath.ToSlash(f.path)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			what := systemQuestion(n)
			if what == "" {
				return true
			}
			asks[path] = true
			if asksSystem[path] == "" {
				t.Errorf("%s: %s: ask internal/system, or make a file per system", path, what)
			}
			return true
		})
	}
	for path := range asksSystem {
		if !asks[path] {
			t.Errorf("%s does not ask for the system: take it off asksSystem", path)
		}
	}
}

// systemQuestion returns how a node asks for the system, or "".
func systemQuestion(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "runtime" && n.Sel.Name == "GOOS" {
			return "runtime.GOOS"
		}
	case *ast.BasicLit:
		if n.Kind == token.STRING && strings.Contains(n.Value, "/proc/self") {
			return n.Value
		}
	}
	return ""
}

// receiver returns the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	x := fn.Recv.List[0].Type
	for {
		switch of := x.(type) {
		case *ast.StarExpr:
			x = of.X
		case *ast.IndexExpr: // a type with a parameter
			x = of.X
		case *ast.IndexListExpr:
			x = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// startsPrograms are the files that may start a program or look for one in PATH, each with its reason: all
// others ask internal/launch, which knows where programs must not come from, or internal/proc, which starts what
// a person or a gate has judged.
var startsPrograms = map[string]string{
	"internal/launch/programs.go":      "is the way for what jcode starts for itself",
	"internal/proc/init_linux.go":      "starts the first process of a namespace again, itself",
	"internal/proc/proc.go":            "is the way for commands, servers and hosts, which were judged",
	"internal/proc/supervise_linux.go": "starts the command of a sandbox, as the first process there",
	"internal/ptty/ptty_unix.go":       "starts jcode itself on a terminal that it holds",
	"internal/startfiles/commands.go":  "names the program that a line would start, for its hash",
	"mcp/config/expand.go":             "names the program of a server to the person who is asked about it",
	"sdk/go/session.go":                "is a library of other programs, and starts jcode",
	"cli/demo/command.go":              "looks for sh and for jcode itself",
	"cli/mcp/check.go":                 "says whether the program of a server exists",
	"cli/mcp/edit.go":                  "says whether the program of a server exists",
	"cli/plugins/panel.go":             "says whether the program of a language server exists",
	"tools/builtin/shell_windows.go":   "names the shell of commands, which were judged",
	"tools/sandbox/main_linux.go":      "starts a command that was judged, inside the sandbox",
}

func TestProgramsAreStartedInOnePlace(t *testing.T) {
	starts := map[string]bool{}
	for _, f := range houseFiles(t) {
		path := filepath.ToSlash(f.path)
		if f.test || f.room == "bench" || f.room == "packaging" || strings.HasPrefix(f.room, "internal/testkit/") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			what := startsProgram(n)
			if what == "" {
				return true
			}
			starts[path] = true
			if startsPrograms[path] == "" {
				t.Errorf("%s: %s: start it with internal/launch", path, what)
			}
			return true
		})
	}
	for path := range startsPrograms {
		if !starts[path] {
			t.Errorf("%s starts no program: take it off startsPrograms", path)
		}
	}
}

// startsProgram returns how a node starts a program, or looks for one, or "".
func startsProgram(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch name := pkg.Name + "." + sel.Sel.Name; name {
	case "exec.Command", "exec.CommandContext", "exec.LookPath", "os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess", "unix.Exec":
		return name
	}
	return ""
}
