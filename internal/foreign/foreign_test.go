package foreign_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/foreign"
	"jcode/internal/testkit/foreigntest"
)

// homeWith writes the history of an agent into a home folder.
func homeWith(t *testing.T, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, content := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// only returns the one session of the histories of an agent.
func only(t *testing.T, places foreign.Places, agent string) (out foreign.Session, faults []foreign.Fault) {
	t.Helper()
	list, err := foreign.Find(places, agent)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v: %v", list, err)
	}
	for s, f := range foreign.Read(t.Context(), list[0], "") {
		faults = append(faults, f...)
		if len(s.Messages) > 0 && out.ID != "" {
			t.Errorf("another session: %+v", s)
		}
		if len(s.Messages) > 0 {
			out = s
		}
	}
	return out, faults
}

func TestHistoriesOfOtherAgentsAreRead(t *testing.T) {
	t.Parallel()
	for _, name := range foreign.Agents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, project := t.TempDir(), t.TempDir()
			foreigntest.Write(t, name, home, project, 2)
			s, faults := only(t, foreign.Places{Home: home, Here: []string{project}}, name)
			if s.Agent != name || s.ID != "s1" || s.Folder != project || s.Model == "" || s.Title != "Mend it" && name != "codex" {
				t.Errorf("%+v", s)
			}
			var got []string
			for _, m := range s.Messages {
				line := m.Role + " " + strings.ReplaceAll(m.Text, "\n", " ")
				if m.Thinking != "" {
					line += " (" + m.Thinking + ")"
				}
				for range m.Pictures {
					line += " +picture"
				}
				for _, c := range m.Calls {
					line += fmt.Sprintf(" %s %s = %s", c.Name, c.Arguments, c.Result)
				}
				got = append(got, line)
			}
			arguments := map[string]string{"codex": `{"cmd":"ls","dir":"/w"}`}[name]
			if arguments == "" {
				arguments = `{"cmd":"ls"}`
			}
			var want []string
			for n := range 2 {
				want = append(want,
					fmt.Sprintf("user mend it %d", n+1)+map[int]string{0: " +picture"}[n],
					fmt.Sprintf(`assistant Looking.  [called %s: {"q":1}]  [result: forty-two] (hm %d) exec %s = a.txt`, map[bool]string{true: "Oracle", false: "oracle"}[name == "claude"], n+1, arguments),
					fmt.Sprintf("assistant Done %d.", n+1))
			}
			if !slices.Equal(got, want) {
				t.Errorf("read:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if !s.Messages[0].Time.Equal(foreigntest.Begun) {
				t.Errorf("began at %s", s.Messages[0].Time)
			}
			if lines := name != "opencode" && name != "crush"; lines != (len(faults) == 1 && faults[0].Line == 3) {
				t.Errorf("the broken line is not named, or others are: %v", faults)
			}
		})
	}
}

func TestOlderFilesOfOthersAreRead(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"gemini": {".gemini/tmp/abc/chats/session-1.json": `{"sessionId":"s1","projectHash":"abc","directories":["/w"],"messages":[
{"id":"1","timestamp":"2026-01-02T03:04:05.000Z","type":"user","content":"mend it"},
{"id":"4","timestamp":"2026-01-02T03:04:08.000Z","type":"gemini","content":[{"text":"Done."}]}]}`},
		"claude": {".claude/projects/-w/s1.jsonl": `{"type":"summary","summary":"Mend it","leafUuid":"x"}
{"type":"user","sessionId":"s1","cwd":"/w","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"mend it"}}
{"type":"assistant","sessionId":"s1","timestamp":"2026-01-02T03:04:08.000Z","message":{"role":"assistant","model":"claude-x","content":[{"type":"text","text":"Done."}]}}
`},
		"opencode": {
			".local/share/opencode/storage/session/p/s1.json":  `{"id":"s1","projectID":"p","directory":"/w","title":"Mend it","time":{"created":1,"updated":2}}`,
			".local/share/opencode/storage/message/s1/m1.json": `{"id":"m1","role":"user","time":{"created":1767323045000}}`,
			".local/share/opencode/storage/message/s1/m2.json": `{"id":"m2","role":"assistant","modelID":"oc-x","time":{"created":1767323046000}}`,
			".local/share/opencode/storage/part/m1/p1.json":    `{"type":"text","text":"mend it"}`,
			".local/share/opencode/storage/part/m2/p4.json":    `{"type":"text","text":"Done."}`,
		},
	} {
		s, faults := only(t, foreign.Places{Home: homeWith(t, files)}, name)
		if len(faults) > 0 || s.ID != "s1" || s.Folder != "/w" || len(s.Messages) != 2 || s.Messages[0].Text != "mend it" || s.Messages[1].Text != "Done." {
			t.Errorf("%s: %+v, %v", name, s, faults)
		}
	}
}

func TestADatabaseIsReadWhileItsProgramRunsAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"opencode", "crush"} {
		home, project := t.TempDir(), t.TempDir()
		foreigntest.Write(t, name, home, project, 1)
		places := foreign.Places{Home: home, Here: []string{project}}
		list, err := foreign.Find(places, name)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if info, err := os.Stat(list[0] + "-wal"); err != nil || info.Size() == 0 {
			t.Fatalf("%s: there is no log, as there is while the program runs: %v", name, err)
		}
		before := contents(t, filepath.Dir(list[0]))
		if s, faults := only(t, places, name); len(s.Messages) != 3 || len(faults) > 0 {
			t.Errorf("%s: %+v, %v", name, s, faults)
		}
		if now := contents(t, filepath.Dir(list[0])); !maps.Equal(now, before) {
			t.Errorf("%s: the folder of the database was changed", name)
		}
	}
}

// contents returns the files of a folder by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(raw)
	}
	return out
}

func TestCallsAreOursWhereTheirArgumentsMeanTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, arguments, want string }{
		{"Read", `{"file_path":"/a","offset":3,"limit":4}`, `read {"limit":4,"offset":3,"path":"/a"}`},
		{"read_file", `{"file_path":"/a","start_line":3,"end_line":6}`, `read {"limit":4,"offset":3,"path":"/a"}`},
		{"view", `{"filePath":"/a"}`, `read {"path":"/a"}`},
		{"Edit", `{"file_path":"/a","old_string":"x","new_string":"y"}`, `edit {"new_string":"y","old_string":"x","path":"/a"}`},
		{"edit", `{"path":"/a","edits":[{"oldText":"x","newText":"y"}]}`, `edit {"edits":[{"new_string":"y","old_string":"x"}],"path":"/a"}`},
		{"Bash", `{"command":"make","timeout":5000,"run_in_background":true}`, `exec {"background":true,"cmd":"make"}`},
		{"shell", `{"command":["bash","-lc","make x"]}`, `exec {"cmd":"make x"}`},
		{"shell", `{"command":["rm","a b"]}`, `exec {"cmd":"rm 'a b'"}`},
		{"Grep", `{"pattern":"x","-i":true,"output_mode":"content","glob":"*.go"}`, `grep {"include":"*.go","pattern":"(?i)x"}`},
		{"find", `{"pattern":"*.go","path":"/w"}`, `glob {"dir":"/w","pattern":"*.go"}`},
		{"apply_patch", `"*** Begin Patch"`, `apply_patch {"input":"*** Begin Patch"}`},
		{"Grep", `{"pattern":"x","multiline":true}`, ``},
		{"Edit", `{"file_path":"/a"}`, ``},
		{"TodoWrite", `{"todos":[]}`, ``},
		{"write", `{"path":"/a"}`, ``},
		{"mcp__a__b", `{}`, ``},
	} {
		dir := homeWith(t, map[string]string{"s.jsonl": `{"type":"session","id":"s"}` + "\n" + `{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"` + c.tool + `","arguments":` + c.arguments + `}]}}` + "\n"})
		for s := range foreign.Read(t.Context(), filepath.Join(dir, "s.jsonl"), "pi") {
			if len(s.Messages) != 1 {
				t.Fatalf("%+v", s)
			}
			got := ""
			for _, call := range s.Messages[0].Calls {
				got = call.Name + " " + string(call.Arguments)
			}
			if text := strings.Contains(s.Messages[0].Text, "[called "+c.tool); got != c.want || text != (c.want == "") {
				t.Errorf("%s %s is %s, want %s; %q", c.tool, c.arguments, got, c.want, s.Messages[0].Text)
			}
		}
	}
}

func TestHistoriesThatMeanHarmDoNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text string }{
		"nothing":              {".claude/projects/w/s.jsonl", ""},
		"other types":          {".claude/projects/w/s.jsonl", `{"type":"user","sessionId":1,"message":[]}` + "\n[]\nnull\n7\n"},
		"deep":                 {".codex/sessions/s.jsonl", `{"type":"response_item","payload":` + strings.Repeat("[", 20_000) + "\n"},
		"a path for an ID":     {".local/share/opencode/storage/session/p/s.json", `{"id":"../../../../../etc","projectID":"p","directory":"/w"}`},
		"no list of messages":  {".gemini/tmp/a/chats/s.json", `{"sessionId":"s","projectHash":"x","messages":{}}`},
		"a cycle of parents":   {".pi/agent/sessions/w/s.jsonl", `{"type":"session","id":"s"}` + "\n" + `{"type":"message","id":"a","parentId":"a","message":{"role":"user","content":7}}` + "\n"},
		"half a database":      {".local/share/opencode/opencode.db", "SQLite format 3\x00" + strings.Repeat("x", 4000)},
		"a picture that isn't": {".claude/projects/w/s.jsonl", `{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"image","source":{"media_type":"text/html","data":"!"}},{"type":"image","source":{"media_type":"image/png","data":"!"}}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := homeWith(t, map[string]string{c.file: c.text})
			for s := range foreign.Read(t.Context(), filepath.Join(home, filepath.FromSlash(c.file)), "") {
				for _, m := range s.Messages {
					if len(m.Pictures) > 0 {
						t.Errorf("%+v", m)
					}
				}
			}
		})
	}
	long := homeWith(t, map[string]string{"s.jsonl": `{"type":"user","sessionId":"s","message":{"role":"user","content":"one"}}` + "\n" + strings.Repeat("x", 33<<20) + "\n" + `{"type":"user","sessionId":"s","message":{"role":"user","content":"two"}}` + "\n"})
	for s, faults := range foreign.Read(t.Context(), filepath.Join(long, "s.jsonl"), "claude") {
		if len(s.Messages) == 0 || !strings.HasSuffix(s.Messages[len(s.Messages)-1].Text, "two") || len(faults) != 1 || faults[0].Line != 2 {
			t.Errorf("after a long line: %+v, %v", s, faults)
		}
	}
}
