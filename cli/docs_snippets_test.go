package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"mvdan.cc/sh/v3/syntax"

	"jcode/agent/event/wire"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/replay"
	"jcode/cli/eval"
	printcli "jcode/cli/print"
	"jcode/cli/stream"
	"jcode/cli/tasklist"
	"jcode/internal/commandline"
	"jcode/internal/patch"
	"jcode/lua"
	"jcode/mcp"
	mcpconfig "jcode/mcp/config"
	"jcode/session/role"
	"jcode/tools"
	"jcode/tui"
)

// kinds are the words that may follow the backquotes of a block. Each names the check for the block; "unchecked"
// means that there is none.
var kinds = []string{
	"sh", "sh run", "jsonc config", "jsonc managed.json", "json mcp.json", "json mcp_tool.json", "json models.json", "json task.json", "lua main.lua", "lua startup.lua", "jsonl replay", "jsonl events", "jsonl input", "jsonl tasks",
	"markdown SKILL.md", "markdown command", "markdown role", "text patch", "text unchecked", "go sdk", "js sdk", "python sdk", "go sdk tools", "js sdk tools", "python sdk tools",
	"sql roles", "yaml compose", "yaml kubernetes", "ini systemd jcode-worker@.service", "ini systemd jcode-serve.service",
}

func TestEveryBlockInTheDocsIsCheckedOrSaysThatItIsNot(t *testing.T) {
	for _, b := range blocks(t) {
		if !slices.Contains(kinds, b.info) {
			t.Errorf("%s:%d: a block %q is not checked by anything", b.page, b.line, b.info)
		}
	}
}

func TestTablesOfModelsInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "json models.json" {
			continue
		}
		if _, err := catalogue.ParseTable([]byte(b.text)); err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
	}
}

func TestTasksInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "jsonl tasks" {
			continue
		}
		if _, err := tasklist.Read(strings.NewReader(b.text), b.page); err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
	}
}

func TestPatchesInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "text patch" {
			continue
		}
		if _, err := patch.Parse(b.text); err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
	}
}

// Every `jcode …` in a shell block is a valid command line.
func TestCommandLinesInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info == "sh" || b.info == "sh run" {
			checkShell(t, b.page, b.line, b.text)
		}
	}
}

// So is every complete `jcode …` within a text.
func TestCommandsNamedInTheDocsAreRight(t *testing.T) {
	span := regexp.MustCompile("`(jcode [^`]*)`")
	for page, text := range pages(t) {
		for _, m := range span.FindAllStringSubmatchIndex(text, -1) {
			command := text[m[2]:m[3]]
			if strings.ContainsAny(command, "…\n[") {
				continue // it is a placeholder for several commands, or a synopsis
			}
			checkShell(t, page, strings.Count(text[:m[0]], "\n"), command)
		}
	}
}

// checkShell parses a script and passes each call of jcode in it to the command line parser.
func checkShell(t *testing.T, page string, line int, script string) {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		t.Errorf("%s:%d: %v", page, line, err)
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, wordText(w))
		}
		if len(words) >= 3 && slices.Equal(words[:3], []string{"go", "run", "."}) {
			words = append([]string{"jcode"}, words[3:]...)
		}
		if len(words) == 0 || words[0] != "jcode" {
			return true
		}
		var g grammar
		if _, err := parse(&g, words[1:]); err != nil && !errors.Is(err, commandline.ErrHelp) {
			t.Errorf("%s:%d: %s: %v", page, line+int(call.Pos().Line()), strings.Join(words, " "), err)
		}
		return true
	})
}

// wordText returns a word without its quotes; variables stay as they are written.
func wordText(w *syntax.Word) string {
	var b strings.Builder
	var parts func([]syntax.WordPart)
	parts = func(list []syntax.WordPart) {
		for _, p := range list {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(p.Value)
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				parts(p.Parts)
			default:
				b.WriteString("$x")
			}
		}
	}
	parts(w.Parts)
	return b.String()
}

func TestServersInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "json mcp.json" {
			continue
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "mcp.json"), b.text)
		m := mcp.New(mcp.Options{
			Paths: mcpconfig.Paths{ConfigDir: dir, ProjectRoot: filepath.Join(dir, "project")}, Registry: tools.NewRegistry(),
			Env: []string{"ISSUES_TOKEN=x"},
		})
		m.Load()
		for _, w := range m.Warnings() {
			t.Errorf("%s:%d: %s", b.page, b.line, w)
		}
		list := m.Snapshot()
		if len(list) == 0 {
			t.Errorf("%s:%d: it names no server", b.page, b.line)
		}
		for _, s := range list {
			if s.Error != "" {
				t.Errorf("%s:%d: %s: %s", b.page, b.line, s.Name, s.Error)
			}
		}
	}
}

func TestRolesInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "markdown role" {
			continue
		}
		for _, p := range role.Parse("x", []byte(b.text)).Problems {
			t.Errorf("%s:%d: %s", b.page, b.line+p.Line, p.Text)
		}
	}
}

func TestScriptsOfModelsInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "jsonl replay" {
			continue
		}
		if _, err := replay.New(strings.NewReader(b.text), b.page, replay.Options{}); err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
	}
}

// A manifest is checked with the script that follows it, or alone.
func TestLuaToolsInTheDocsAreRight(t *testing.T) {
	all := blocks(t)
	for i, b := range all {
		if b.info != "json mcp_tool.json" {
			continue
		}
		dir := filepath.Join(t.TempDir(), "todos")
		write(t, filepath.Join(dir, "mcp_tool.json"), b.text)
		source := "return 1\n"
		if i+1 < len(all) && all[i+1].info == "lua main.lua" {
			source = all[i+1].text
		}
		write(t, filepath.Join(dir, "main.lua"), source)
		problems, err := lua.Check(t.Context(), dir, lua.Around{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s:%d: %s", b.page, b.line, p)
		}
	}
}

func TestStartupScriptsInTheDocsAreRight(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "lua startup.lua" {
			continue
		}
		file := filepath.Join(t.TempDir(), "startup.lua")
		write(t, file, b.text)
		if problems, err := lua.Check(t.Context(), file, lua.Around{}); err != nil || len(problems) > 0 {
			t.Errorf("%s:%d: %v %q", b.page, b.line, err, problems)
		}
	}
}

func TestTasksInTheDocsAreTasks(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "json task.json" {
			continue
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "task.json"), b.text)
		if _, err := eval.Read(dir); err != nil {
			t.Errorf("%s:%d: %v", b.page, b.line, err)
		}
	}
}

// lines are the objects of stream-json, by type. TestSchemaOfEvents of agent/event/wire has all of them.
var lines = map[string]any{
	"init": printcli.Init{}, "text": wire.Delta{}, "reasoning": wire.Delta{}, "tool_call": wire.Call{}, "approval": wire.Approval{},
	"tool_result": wire.CallResult{}, "tools_changed": wire.ToolsChanged{}, "notice": wire.Notice{}, "compaction": wire.Compaction{},
	"usage": wire.Usage{}, "result": printcli.Result{}, "turn_start": wire.TurnStart{}, "step_start": wire.StepStart{}, "answer_reset": wire.AnswerReset{},
	"tool_writing": wire.CallWriting{}, "assistant": wire.Assistant{}, "tool_progress": wire.CallProgress{}, "approval_asked": wire.ApprovalAsked{},
	"approval_closed": wire.Closed{}, "ask": wire.Ask{}, "form": wire.AskForm{}, "ask_closed": wire.Closed{}, "todo": wire.Todo{}, "retrying": wire.Retrying{},
	"compacting": wire.Compacting{}, "rewound": wire.Rewound{}, "queue": wire.Queue{}, "preparing": wire.Preparing{}, "unsent": wire.Unsent{},
	"state": wire.State{}, "turn_end": wire.TurnEnd{}, "notes_used": wire.NotesUsed{}, "agent": wire.AgentState{},
	"response": stream.Response{}, "mcp": stream.Message{},
}

func TestEventsInTheDocsAreThoseOfTheProgram(t *testing.T) {
	for _, b := range blocks(t) {
		if b.info != "jsonl events" {
			continue
		}
		for i, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
			var head struct{ Type string }
			if err := json.Unmarshal([]byte(line), &head); err != nil || lines[head.Type] == nil {
				t.Errorf("%s:%d: no event: %s (%v)", b.page, b.line+1+i, line, err)
				continue
			}
			dec := json.NewDecoder(strings.NewReader(line))
			dec.DisallowUnknownFields()
			if err := dec.Decode(reflect.New(reflect.TypeOf(lines[head.Type])).Interface()); err != nil {
				t.Errorf("%s:%d: %v", b.page, b.line+1+i, err)
			}
		}
	}
}

func TestInputInTheDocsFitsItsSchema(t *testing.T) {
	var schema jsonschema.Schema
	if b, err := os.ReadFile("../docs/input.schema.json"); err != nil || json.Unmarshal(b, &schema) != nil {
		t.Fatal(err)
	}
	fits, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(t) {
		if b.info != "jsonl input" {
			continue
		}
		for i, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil || fits.Validate(v) != nil {
				t.Errorf("%s:%d: no line of the input: %s (%v, %v)", b.page, b.line+1+i, line, err, fits.Validate(v))
			}
		}
	}
}

func TestTableOfEventsNamesAllFields(t *testing.T) {
	page := pages(t)["../docs/scripting.md"]
	for name, line := range lines {
		_, table, _ := strings.Cut(page, "| type | fields |")
		_, rest, ok := strings.Cut(table, "\n| `"+name+"` | ")
		if !ok {
			t.Errorf("docs/scripting.md does not list the event %s", name)
			continue
		}
		row, _, _ := strings.Cut(rest, "\n")
		for _, f := range reflect.VisibleFields(reflect.TypeOf(line)) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			everywhere := len(f.Index) > 1 && slices.Contains([]string{"Head", "Marks"}, reflect.TypeOf(line).Field(f.Index[0]).Name)
			if !f.Anonymous && !everywhere && key != "type" && key != "-" && !strings.Contains(row, "`"+key+"`") {
				t.Errorf("docs/scripting.md: the row of %s lacks %s", name, key)
			}
		}
	}
}

// So are the slash commands within a text.
func TestSlashCommandsNamedInTheDocsAreThere(t *testing.T) {
	docs := pages(t)
	known := slashCommands(t)
	examples := []string{"name", "review"} // a skill's, a command file's
	span := regexp.MustCompile("`/([a-z][a-z-]*)[ `]")
	firstCell := regexp.MustCompile(`(?m)^\|[^|]*\|`)
	for page, text := range docs {
		if strings.Contains(page, "switching-") { // the first column is another agent's
			text = firstCell.ReplaceAllString(text, "")
		}
		for _, m := range span.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]) && !slices.Contains(examples, m[1]) {
				t.Errorf("%s: there is no /%s", page, m[1])
			}
		}
	}
}

// slashCommands returns the names of all commands of a chat in an empty folder. It changes the working folder.
func slashCommands(t *testing.T) []string {
	t.Helper()
	a := appInNewFolder(t)
	known := tui.OwnCommands()
	for _, c := range chatCommands(a) {
		known = append(known, c.Name)
	}
	for _, p := range chatPanels(a) {
		known = append(known, p.Name)
	}
	return known
}

// Every link from one page to another has a target.
func TestLinksInTheDocsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: a link leads nowhere: %v", page, err)
			}
		}
	}
}

// pages returns the text of the README and of all pages of docs/, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	out := map[string]string{}
	for _, file := range append(files, "../README.md") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = string(data)
	}
	return out
}
