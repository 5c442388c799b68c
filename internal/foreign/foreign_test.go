package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/foreign"
)

// histories are the same short session as each agent keeps it, by agent and then by file below the home folder.
func histories() map[string]map[string]string {
	return map[string]map[string]string{
		"claude": {".claude/projects/-w/s1.jsonl": `{"type":"summary","summary":"Mend it","leafUuid":"x"}
{"type":"user","sessionId":"s1","cwd":"/w","timestamp":"2026-01-02T03:04:05.000Z","uuid":"a","message":{"role":"user","content":"mend it"}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-02T03:04:05.000Z","isMeta":true,"message":{"role":"user","content":"not said"}}
not a line
{"type":"assistant","sessionId":"s1","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Looking."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","sessionId":"s1","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a.txt"}]}]}}
{"type":"assistant","sessionId":"s1","timestamp":"2026-01-02T03:04:08.000Z","message":{"role":"assistant","model":"claude-x","content":[{"type":"text","text":"Done."}]}}
{"type":"user","isSidechain":true,"timestamp":"2026-01-02T03:04:09.000Z","message":{"role":"user","content":"of a sub-agent"}}
`},
		"codex": {".codex/sessions/2026/01/02/rollout-1.jsonl": `{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"s1","cwd":"/w","originator":"x"}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"turn_context","payload":{"cwd":"/w","model":"gpt-x"}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>not said</environment_context>"}]}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"mend it"}]}}
{"timestamp":"2026-01-02T03:04:05.000Z","type":"event_msg","payload":{"type":"user_message","message":"mend it"}}
not a line
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking."}]}}
{"timestamp":"2026-01-02T03:04:06.000Z","type":"response_item","payload":{"type":"function_call","name":"Bash","arguments":"{\"command\":\"ls\"}","call_id":"t"}}
{"timestamp":"2026-01-02T03:04:07.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"t","output":"a.txt"}}
{"timestamp":"2026-01-02T03:04:08.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}
`},
		"gemini": {".gemini/tmp/abc/chats/session-1.json": `{"sessionId":"s1","projectHash":"abc","directories":["/w"],"messages":[
{"id":"1","timestamp":"2026-01-02T03:04:05.000Z","type":"user","content":"mend it"},
{"id":"2","timestamp":"2026-01-02T03:04:05.000Z","type":"info","content":"not said"},
{"id":"3","timestamp":"2026-01-02T03:04:06.000Z","type":"gemini","model":"gemini-x","content":"Looking.","thoughts":[{"subject":"hm","description":""}],"toolCalls":[{"id":"t","name":"Bash","args":{"command":"ls"},"result":[{"functionResponse":{"id":"t","name":"Bash","response":{"output":"a.txt"}}}]}]},
{"id":"4","timestamp":"2026-01-02T03:04:08.000Z","type":"gemini","content":[{"text":"Done."}]}]}`},
		"pi": {".pi/agent/sessions/--w--/1_s1.jsonl": `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"mend it"}}
{"type":"message","id":"x","parentId":"a","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"not said: another branch"}]}}
not a line
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant","model":"pi-x","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"toolCall","id":"t","name":"Bash","arguments":{"command":"ls"}}]}}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"toolResult","toolCallId":"t","toolName":"Bash","content":[{"type":"text","text":"a.txt"}]}}
{"type":"message","id":"d","parentId":"c","timestamp":"2026-01-02T03:04:08.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}
`},
		"opencode": {
			".local/share/opencode/storage/session/p/s1.json":  `{"id":"s1","projectID":"p","directory":"/w","title":"Mend it","time":{"created":1,"updated":2}}`,
			".local/share/opencode/storage/message/s1/m1.json": `{"id":"m1","role":"user","time":{"created":1767323045000}}`,
			".local/share/opencode/storage/message/s1/m2.json": `{"id":"m2","role":"assistant","modelID":"oc-x","time":{"created":1767323046000}}`,
			".local/share/opencode/storage/message/s1/m3.json": `not a message`,
			".local/share/opencode/storage/part/m1/p1.json":    `{"type":"text","text":"mend it"}`,
			".local/share/opencode/storage/part/m1/p2.json":    `{"type":"text","synthetic":true,"text":"not said"}`,
			".local/share/opencode/storage/part/m2/p1.json":    `{"type":"reasoning","text":"hm"}`,
			".local/share/opencode/storage/part/m2/p2.json":    `{"type":"text","text":"Looking."}`,
			".local/share/opencode/storage/part/m2/p3.json":    `{"type":"tool","tool":"Bash","callID":"t","state":{"status":"completed","input":{"command":"ls"},"output":"a.txt"}}`,
			".local/share/opencode/storage/part/m2/p4.json":    `{"type":"text","text":"Done."}`,
		},
	}
}

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

func TestHistoriesOfOtherAgentsAreRead(t *testing.T) {
	t.Parallel()
	for name, files := range histories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, err := foreign.Find(homeWith(t, files), name)
			if err != nil || len(list) != 1 {
				t.Fatalf("%v: %v", list, err)
			}
			s, faults, ok := foreign.Read(list[0], "")
			if !ok || s.Agent != name || s.ID != "s1" || s.Folder != "/w" || s.Model == "" {
				t.Errorf("%+v", s)
			}
			if len(s.Messages) != 2 || s.Messages[0].Role != foreign.User || s.Messages[0].Text != "mend it" || s.Messages[0].Time.Unix() != 1767323045 {
				t.Fatalf("%+v", s.Messages)
			}
			answer := s.Messages[1]
			if answer.Role != foreign.Assistant || answer.Thinking != "hm" {
				t.Errorf("%+v", answer)
			}
			rest := answer.Text
			for _, want := range []string{"[called Bash: {\"command\":\"ls\"}]", "[result: a.txt]", "Done."} {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Errorf("%q is missing in %q", want, answer.Text)
				}
				rest = after
			}
			if name != "gemini" && (len(faults) != 1 || name != "opencode" && faults[0].Line == 0) {
				t.Errorf("the broken line is not named: %v", faults)
			}
			for _, m := range s.Messages {
				if strings.Contains(m.Text, "not said") {
					t.Errorf("nobody said that: %q", m.Text)
				}
			}
		})
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
		"a picture that isn't": {".claude/projects/w/s.jsonl", `{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"image","source":{"media_type":"text/html","data":"!"}},{"type":"image","source":{"media_type":"image/png","data":"!"}}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := homeWith(t, map[string]string{c.file: c.text})
			s, _, _ := foreign.Read(filepath.Join(home, filepath.FromSlash(c.file)), "")
			for _, m := range s.Messages {
				if len(m.Pictures) > 0 {
					t.Errorf("%+v", m)
				}
			}
		})
	}
	long := homeWith(t, map[string]string{"s.jsonl": `{"type":"user","sessionId":"s","message":{"role":"user","content":"one"}}` + "\n" + strings.Repeat("x", 33<<20) + "\n" + `{"type":"user","sessionId":"s","message":{"role":"user","content":"two"}}` + "\n"})
	s, faults, ok := foreign.Read(filepath.Join(long, "s.jsonl"), "claude")
	if !ok || !strings.HasSuffix(s.Messages[len(s.Messages)-1].Text, "two") || len(faults) != 1 || faults[0].Line != 2 {
		t.Errorf("after a long line: %+v, %v", s, faults)
	}
}
