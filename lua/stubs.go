package lua

import (
	"fmt"
	"strings"

	"jcode/lua/wire"
)

// Stubs returns jcode.d.lua: type annotations of the whole API for editors. It is generated from
// the table that builds the globals, so it is never out of date.
func Stubs() string {
	var b strings.Builder
	b.WriteString("---@meta\n-- The Lua API of jcode. Written by `jcode lua stubs`; do not edit.\n-- Lua 5.1 with goto. `jcode` and `orcs` are the same table.\n\n")
	opened := map[string]bool{}
	for _, f := range wire.API() {
		if t := f.Table(); t != "" && !opened[t] {
			opened[t] = true
			fmt.Fprintf(&b, "---@class %slib\n", t)
			if t == "jcode" {
				b.WriteString("---@field pwd string project root path\n")
			}
			if t == "json" {
				b.WriteString("---@field null any represents null inside arrays\n")
			}
			fmt.Fprintf(&b, "%s = {}\n\n", t)
		}
		writeStub(&b, f)
	}
	b.WriteString("orcs = jcode\n\n---All parameters of a tool by name; each is a global variable, too.\n---@type table<string, any>\nparams = {}\n")
	return b.String()
}

func writeStub(b *strings.Builder, f wire.Func) {
	fmt.Fprintf(b, "---%s\n---Available in: %s.", f.Doc, f.In.Names())
	if f.Needs != "" {
		fmt.Fprintf(b, " Tools and plugins declare permissions.%s.", f.Needs)
	}
	b.WriteByte('\n')
	var names []string
	for _, a := range f.Args {
		names = append(names, a.Name)
		kind, optional := strings.CutSuffix(a.Type, "?")
		name := a.Name
		if optional {
			name += "?"
		}
		fmt.Fprintf(b, "---@param %s %s\n", name, kind)
	}
	if f.Returns != "" {
		fmt.Fprintf(b, "---@return %s\n", f.Returns)
	}
	fmt.Fprintf(b, "function %s(%s) end\n\n", f.Name, strings.Join(names, ", "))
}
