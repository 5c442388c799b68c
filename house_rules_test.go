package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"jcode/internal/toolcard"
)

// Every builtin tool can be named by a rule.
func TestRulesKnowEveryBuiltinTool(t *testing.T) {
	known, found := toolcard.Names(), 0
	for _, f := range houseFiles(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if sel, ok := lit.Type.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Spec" {
				return true
			}
			for _, e := range lit.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok || kv.Key.(*ast.Ident).Name != "Name" {
					continue
				}
				if v, ok := kv.Value.(*ast.BasicLit); ok && v.Kind == token.STRING {
					found++
					if name, _ := strconv.Unquote(v.Value); !slices.Contains(known, name) {
						t.Errorf("%s: the tool %s is not in toolcard", f.path, name)
					}
				}
			}
			return true
		})
	}
	if found < 8 {
		t.Errorf("only %d tools found", found)
	}
}

// What a tool is stands on its card (internal/toolcard): nothing decides by a list of tools' names.
func TestNothingListsToolsByName(t *testing.T) {
	names := toolcard.Names()
	for _, f := range houseFiles(t) {
		if f.test || f.room == "internal/toolcard" || f.room == "tools/permission/shell" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			var list []ast.Expr
			switch n := n.(type) {
			case *ast.CaseClause:
				list = n.List
			case *ast.CompositeLit:
				list = n.Elts
			}
			var found []string
			for _, x := range list {
				if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if name, _ := strconv.Unquote(lit.Value); slices.Contains(names, name) {
						found = append(found, name)
					}
				}
			}
			if len(found) > 1 && len(found) == len(list) && listsTools[f.path] == "" {
				t.Errorf("%s lists the tools %v: ask their cards (internal/toolcard)", f.path, found)
			}
			return true
		})
	}
}

// listsTools are the files that may list tools by name, each with its reason.
var listsTools = map[string]string{
	"mcp/serve/serve.go": "names what is offered where nothing is chosen",
}
