package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every environment variable that the program reads is in the table of docs/configuration.md, but for those that
// other programs set to say where jcode runs.
func TestVariablesThatAreReadAreDocumented(t *testing.T) {
	page, err := os.ReadFile("configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	surroundings := []string{
		"PATH", "HOME", "SHELL", "DISPLAY", "WAYLAND_DISPLAY", "TMUX", "STY", "SSH_TTY", "SSH_CONNECTION", "WSL_DISTRO_NAME", "SUDO_UID",
		"KUBERNETES_SERVICE_HOST", "DBUS_SESSION_BUS_ADDRESS", "GIT_CONFIG_GLOBAL", "POSIXLY_CORRECT", "VIRTUAL_ENV", "LESS",
	}
	read := variables(t)
	if len(read) < 20 {
		t.Fatalf("only %d variables were found", len(read))
	}
	for name, file := range read {
		if !slices.Contains(surroundings, name) && !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("%s reads %s, which docs/configuration.md does not name", file, name)
		}
	}
}

// variables returns the names that calls such as Getenv("NAME") have, with a file where they are.
func variables(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testkit" || d.Name() == "bench" || d.Name() == "sdk" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			name := ""
			switch fun := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			case *ast.Ident:
				name = fun.Name
			}
			literal, ok := call.Args[0].(*ast.BasicLit)
			if ok && literal.Kind == token.STRING && slices.Contains([]string{"Getenv", "getenv", "LookupEnv", "env", "lookup"}, name) {
				if value, err := strconv.Unquote(literal.Value); err == nil && value == strings.ToUpper(value) && value != "" {
					found[value] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
