package main

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// streamsOf are the files that may name the process's own output: the door itself, what draws the chat and
// cleans what it draws, and the programs that jcode starts of itself, whose output is a pipe to jcode.
var streamsOf = []string{
	"cli/console/streams.go", // System opens both doors
	"cli/internal.go",        // a child's pipe, and the door
	"tui/run.go",             // the painter
	"lua/host/main.go", "lua/host/harden_linux.go",
	"tools/sandbox/main_linux.go", "tools/sandbox/main_other.go",
}

// Whatever is printed to a terminal passes cli's door: nothing else of the program names the process's output,
// or prints to it.
func TestOnlyTheDoorPrintsToATerminal(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || f.room == "bench" || f.room == "packaging" || slices.Contains(streamsOf, f.path) || strings.HasPrefix(f.room, "internal/testkit/") {
			continue
		}
		for _, lib := range f.imports {
			if lib == "log" {
				t.Errorf("%s imports log, which prints to stderr", f.path)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && printsItself[pkg.Name+"."+n.Sel.Name] {
					t.Errorf("%s: %s.%s: print to Streams, which are cleaned", f.path, pkg.Name, n.Sel.Name)
				}
			case *ast.CallExpr:
				if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "print" || fn.Name == "println") && fn.Obj == nil {
					t.Errorf("%s: %s: print to Streams, which are cleaned", f.path, fn.Name)
				}
			}
			return true
		})
	}
}

// printsItself are what of the standard library prints to the process's own output.
var printsItself = map[string]bool{
	"os.Stdout": true, "os.Stderr": true, "fmt.Print": true, "fmt.Println": true, "fmt.Printf": true, "slog.SetDefault": true,
	"syscall.Stdout": true, "syscall.Stderr": true, "debug.PrintStack": true,
}
