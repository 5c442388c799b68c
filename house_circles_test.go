package main

import (
	"cmp"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A part is a value that names what it needs, owns its state and can be tested alone. So it never
// holds, at any distance, the whole that holds it, under any name: within a package, the graph
// "a struct has a field with a struct" has no circle. A struct that holds its own kind is a list
// or a tree and is not counted.
//
// circles lists those that there are, by their smallest member, each to be taken apart: none.
var circles = map[string]string{}

func TestNoPartHoldsTheWhole(t *testing.T) {
	found := map[string]bool{}
	for room, structs := range houseStructs(t) {
		for _, circle := range structs.circles() {
			name := room + "." + circle[0]
			for _, member := range circle {
				if circles[room+"."+member] != "" {
					name = room + "." + member
				}
			}
			found[name] = true
			if circles[name] == "" {
				t.Errorf("%s: %s hold each other: give the part what it needs instead of the whole", room, strings.Join(circle, ", "))
			}
		}
	}
	for name := range circles {
		if !found[name] {
			t.Errorf("%s is in no circle: take it off circles", name)
		}
	}
}

// crowded are the types whose method set, with what embedded structs promote, is over maxMethods,
// with the number that it may have at most; each is to be divided.
var crowded = map[string]int{}

func TestMethodSetsAreSmall(t *testing.T) {
	house := houseStructs(t)
	over := map[string]bool{}
	for room, structs := range house {
		for name := range structs {
			n := len(house.methodSet(room, name, map[string]bool{}))
			if n <= maxMethods {
				continue
			}
			key := room + "." + name
			over[key] = true
			if most := crowded[key]; n > most {
				t.Errorf("%s has %d methods with those of what it embeds, the limit is %d: name what it needs", key, n, max(maxMethods, most))
			}
		}
	}
	for key := range crowded {
		if !over[key] {
			t.Errorf("%s is within the limit: take it off crowded", key)
		}
	}
}

// shape is what the tests of shapes need of a struct, an interface or another named type.
type shape struct {
	isStruct bool
	fields   []string // types of the same package that its fields hold, in the type's own words
	embeds   []string // what it embeds: a name of the package, or room.name
	methods  []string // declared, or those of an interface
}

type (
	roomShapes  map[string]*shape
	houseShapes map[string]roomShapes
)

// houseStructs reads the types of every room's product code.
func houseStructs(t *testing.T) houseShapes {
	t.Helper()
	house := houseShapes{}
	for _, f := range houseFiles(t) {
		if f.test || strings.HasPrefix(f.room, "internal/testkit/") {
			continue
		}
		if house[f.room] == nil {
			house[f.room] = roomShapes{}
		}
		room := house[f.room]
		imports := map[string]string{}
		for _, imp := range f.imports {
			if of, own := strings.CutPrefix(imp, "jcode/"); own {
				imports[of[strings.LastIndex(of, "/")+1:]] = of
			}
		}
		for _, decl := range f.ast.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						room.of(spec.Name.Name).read(spec.Type, imports)
					}
				}
			case *ast.FuncDecl:
				if decl.Recv != nil {
					s := room.of(receiver(decl))
					s.methods = append(s.methods, decl.Name.Name)
				}
			}
		}
	}
	return house
}

func (r roomShapes) of(name string) *shape {
	if r[name] == nil {
		r[name] = &shape{}
	}
	return r[name]
}

// read takes over what a type's declaration says.
func (s *shape) read(x ast.Expr, imports map[string]string) {
	switch x := x.(type) {
	case *ast.StructType:
		s.isStruct = true
		for _, field := range x.Fields.List {
			s.fields = append(s.fields, held(field.Type)...)
			if len(field.Names) == 0 {
				s.embeds = append(s.embeds, typeName(field.Type, imports))
			}
		}
	case *ast.InterfaceType:
		for _, m := range x.Methods.List {
			for _, name := range m.Names {
				s.methods = append(s.methods, name.Name)
			}
			if len(m.Names) == 0 {
				s.embeds = append(s.embeds, typeName(m.Type, imports))
			}
		}
	default:
		s.fields = held(x)
	}
}

// held returns the names of the package's types that a value of a type holds or points to: not
// those that a function takes, nor those of other packages.
func held(x ast.Expr) (names []string) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType, *ast.SelectorExpr, *ast.InterfaceType:
			return false
		case *ast.Field: // of a struct without a name
			names = append(names, held(n.Type)...)
			return false
		case *ast.Ident:
			names = append(names, n.Name)
		}
		return true
	})
	return names
}

// typeName returns the name of an embedded type: with its room if it is another one's, "" if it
// is no type of this module.
func typeName(x ast.Expr, imports map[string]string) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return typeName(x.X, imports)
	case *ast.IndexExpr:
		return typeName(x.X, imports)
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		if pkg, ok := x.X.(*ast.Ident); ok && imports[pkg.Name] != "" {
			return imports[pkg.Name] + "." + x.Sel.Name
		}
	}
	return ""
}

// methodSet returns the methods of a type with those that what it embeds promotes.
func (h houseShapes) methodSet(room, name string, seen map[string]bool) map[string]bool {
	set := map[string]bool{}
	s := h[room][name]
	if s == nil || seen[room+"."+name] {
		return set
	}
	seen[room+"."+name] = true
	for _, m := range s.methods {
		set[m] = true
	}
	for _, embedded := range s.embeds {
		of, in := embedded, room
		if i := strings.LastIndex(embedded, "."); i >= 0 {
			in, of = embedded[:i], embedded[i+1:]
		}
		maps.Copy(set, h.methodSet(in, of, seen))
	}
	return set
}

// circles returns the groups of two or more types of a room, among them a struct, that hold each
// other, each sorted by name.
func (r roomShapes) circles() (out [][]string) {
	reach := map[string]map[string]bool{}
	for name := range r {
		seen := map[string]bool{}
		r.walk(name, seen)
		reach[name] = seen
	}
	done := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if done[name] || !r[name].isStruct {
			continue
		}
		var circle []string
		for _, other := range slices.SortedFunc(maps.Keys(reach[name]), cmp.Compare) {
			if reach[other][name] && r[other].isStruct {
				circle = append(circle, other)
				done[other] = true
			}
		}
		if len(circle) > 1 {
			out = append(out, circle)
		}
	}
	return out
}

// walk marks all types of the room that a type holds, at any distance.
func (r roomShapes) walk(name string, seen map[string]bool) {
	for _, next := range r[name].fields {
		if r[next] != nil && !seen[next] {
			seen[next] = true
			r.walk(next, seen)
		}
	}
}
