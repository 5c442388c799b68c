package main

import (
	"go/ast"
	"testing"
)

// The app is the wiring. Everything else in cli has only what it uses, which newX beside the type
// takes from the app.
func TestOnlyTheWiringHoldsTheWholeApp(t *testing.T) {
	for _, f := range houseFiles(t) {
		if f.test || f.room != "cli" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok && hasApp(fields) {
				t.Errorf("%s: %s has the whole app as a field: give it what it uses", f.path, spec.Name.Name)
			}
			return true
		})
	}
}

// hasApp reports whether a field of a struct is the app, or points to it, also inside of another
// type.
func hasApp(fields *ast.StructType) (has bool) {
	for _, field := range fields.Fields.List {
		ast.Inspect(field.Type, func(n ast.Node) bool {
			if _, ok := n.(*ast.SelectorExpr); ok {
				return false // a name of another package
			}
			id, ok := n.(*ast.Ident)
			has = has || ok && id.Name == "app"
			return !has
		})
	}
	return has
}
