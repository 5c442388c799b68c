package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"jcode/internal/toolnames"
)

// Every builtin tool can be named by a rule.
func TestRulesKnowEveryBuiltinTool(t *testing.T) {
	known, found := toolnames.Builtin(), 0
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
						t.Errorf("%s: the tool %s is not in toolnames.Builtin", f.path, name)
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
