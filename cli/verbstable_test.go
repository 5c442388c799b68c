package cli

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	luacli "jcode/cli/lua"
	mcpcli "jcode/cli/mcp"
	"jcode/cli/memory"
	permissionscli "jcode/cli/permissions"
	rolescli "jcode/cli/roles"
	sessionscli "jcode/cli/sessions"
	skillscli "jcode/cli/skills"
	taskscli "jcode/cli/tasks"
	"jcode/internal/commandline"
	"jcode/tools/command"
	"jcode/tools/retrieval"
)

// A verb of `jcode X` and of /X is named once, with one help and one hint. Where a side says something of its own, the
// table gives the reason.
func TestAVerbIsSaidOnceForTheChatAndTheCommandLine(t *testing.T) {
	tables := verbTables()
	a := appInNewFolder(t)
	chat := map[string]command.Verbs{}
	for _, p := range chatPanels(a) {
		chat[p.Name] = p.Verbs
	}
	for _, c := range chatCommands(a) {
		chat[c.Name] = c.Verbs
	}
	line := wholeLine(t)
	var b strings.Builder
	both, onLine, onChat := 0, 0, 0
	for _, room := range line.Children {
		table := tables[room.Name]
		delete(tables, room.Name)
		for i := range table {
			e := &table[i]
			child := room.Child(e.Name)
			verb, _ := chat[room.Name].Find(e.Name)
			if (child == nil) != (e.On == command.Chat) || (verb == nil) != (e.On == command.Line) {
				t.Errorf("%s %s: in the chat %t, on the command line %t, but its table says otherwise", room.Name, e.Name, verb != nil, child != nil)
				continue
			}
			if e.Line != (command.Said{}) && (e.On != command.Both || e.Line.Why == "" || e.Line.Help == e.Help || e.Line.Hint == e.Hint && e.Hint != "") {
				t.Errorf("%s %s: the command line says the same, or has no reason to say another thing: %+v", room.Name, e.Name, e.Line)
			}
			if e.On == command.Both {
				if said := lowered(child.Help); said != verb.Help && (e.Line.Help == "" || said != e.Line.Help) {
					t.Errorf("%s %s: jcode says %q, the chat %q", room.Name, e.Name, said, verb.Help)
				}
				if hint := hintOf(child); hint != cmp.Or(e.Line.Hint, verb.Hint) {
					t.Errorf("%s %s: jcode takes %q, its table says %q", room.Name, e.Name, hint, cmp.Or(e.Line.Hint, verb.Hint))
				}
			}
			fmt.Fprintf(&b, "%-12s %-11s %-12s %s%s\n", room.Name, e.Name, [...]string{"both", "chat", "command line"}[e.On], e.Help, because(e.Line))
		}
		for _, child := range room.Children {
			switch e := table.Find(child.Name); {
			case e != nil && e.On == command.Both:
				both++
			case e == nil && len(chat[room.Name]) > 0:
				t.Errorf("jcode %s %s is not in the table that /%s has its verbs from", room.Name, child.Name, room.Name)
			default:
				onLine++
			}
			if child.Help == "" {
				t.Errorf("jcode %s %s has no help", room.Name, child.Name)
			}
		}
	}
	for room := range tables {
		t.Errorf("there is no jcode %s", room)
	}
	for room, verbs := range chat {
		for i := range verbs {
			if c := line.Child(room); c == nil || c.Child(verbs[i].Name) == nil {
				onChat++
			}
		}
	}
	t.Logf("%d verbs on both sides, %d on the command line alone, %d in the chat alone\n%s", both, onLine, onChat, b.String())
	if both < 20 {
		t.Errorf("%d verbs are on both sides", both)
	}
}

// verbTables returns the table of each room.
func verbTables() map[string]command.Table {
	return map[string]command.Table{
		"mcp": mcpcli.Table(), "skills": skillscli.Table(), "roles": rolescli.Table(), "permissions": permissionscli.Table(), "memory": memory.Table(),
		"tasks": taskscli.Table(), "lua": luacli.Table(), "sessions": sessionscli.Table(), "docs": retrieval.Table(),
	}
}

// What a room does for a verb of the chat has an entry in its table: without one, Table.Verbs leaves it out.
func TestEachDeedOfARoomHasAnEntry(t *testing.T) {
	t.Parallel()
	found := 0
	for room, table := range verbTables() {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				list, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				if of, ok := list.Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Deeds" {
					return true
				}
				for _, deed := range list.Elts {
					pair, _ := deed.(*ast.KeyValueExpr)
					key, ok := pair.Key.(*ast.BasicLit)
					if !ok {
						t.Errorf("%s: the name of a deed is no text", file)
						continue
					}
					found++
					name, _ := strconv.Unquote(key.Value)
					if e := table.Find(name); e == nil || e.On == command.Line {
						t.Errorf("%s: the table of /%s has no entry for %q in the chat", file, room, name)
					}
				}
				return true
			})
		}
	}
	if found < 20 {
		t.Errorf("only %d deeds were found", found)
	}
}

// A deed without an entry for the chat is no verb of it.
func TestADeedWithoutAnEntryIsNoVerb(t *testing.T) {
	t.Parallel()
	table := command.Table{{Name: "show", Help: "show it"}, {Name: "add", Help: "add it", On: command.Line}}
	verbs := table.Verbs(nil, command.Deeds{"show": {}, "add": {}, "forgotten": {}})
	if len(verbs) != 1 || verbs[0].Name != "show" || verbs[0].Help == "" {
		t.Errorf("verbs: %+v", verbs)
	}
}

func because(s command.Said) string {
	if s.Why == "" {
		return ""
	}
	return " (otherwise on the command line: " + s.Why + ")"
}

// lowered is a help of the command line as the chat says it.
func lowered(help string) string {
	return strings.ToLower(help[:1]) + strings.TrimSuffix(help[1:], ".")
}

// hintOf is what a command takes, as the hints of the chat say it.
func hintOf(c *commandline.Command) string {
	var words []string
	for _, a := range c.Args {
		word := strings.ToUpper(a.Name)
		// A shell hands over one by one the words of what is one text in the chat.
		if strings.Contains(a.Summary(), "...") && !slices.Contains([]string{"WORDS", "LINE", "RIGHT"}, word) {
			word += " …"
		}
		if a.Optional {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
