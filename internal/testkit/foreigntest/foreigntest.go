// Package foreigntest writes histories as other coding agents keep them, for tests. All tell the same conversation.
package foreigntest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the engine
)

// Picture is the image of the first prompt, in base64.
const Picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// Begun is when the first turn began.
var Begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Agents are the agents that there are histories of.
func Agents() []string { return []string{"claude", "codex", "gemini", "pi", "opencode", "crush"} }

// Write writes the history of a session in a project into a home folder, of one turn or more. A turn is a prompt, a
// thought, a call of a shell, one of a tool that only that agent has, and an answer: "mend it 1" with a picture, "hm 1", ls with
// the result "a.txt", oracle with "forty-two", "Done 1.".
func Write(tb testing.TB, agent, home, project string, turns int) {
	tb.Helper()
	w := writer{tb, home, project}
	map[string]func(int){"claude": w.claude, "codex": w.codex, "gemini": w.gemini, "pi": w.pi, "opencode": w.opencode, "crush": w.crush}[agent](turns)
}

type writer struct {
	tb            testing.TB
	home, project string
}

type object = map[string]any

// at is a moment of a turn.
func at(turn, second int) string {
	return moment(turn, second).Format("2006-01-02T15:04:05.000Z")
}

func moment(turn, second int) time.Time {
	return Begun.Add(time.Duration(turn-1)*time.Hour + time.Duration(second)*time.Second)
}

func (w writer) put(name string, content string) {
	w.tb.Helper()
	path := filepath.Join(w.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		w.tb.Fatal(err)
	}
}

func (w writer) json(v any) string {
	w.tb.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		w.tb.Fatal(err)
	}
	return string(raw)
}

// lines writes a file of an object a line, with a line that is none after the second.
func (w writer) lines(name string, all []object) {
	w.tb.Helper()
	var b strings.Builder
	for i, o := range all {
		b.WriteString(w.json(o) + "\n")
		if i == 1 {
			b.WriteString("not a line\n")
		}
	}
	w.put(name, b.String())
}

func (w writer) claude(turns int) {
	parent := any(nil)
	var all []object
	line := func(turn, second int, id, role, answer string, content any, more object) {
		o := object{
			"parentUuid": parent, "isSidechain": false, "type": role, "uuid": id, "timestamp": at(turn, second), "cwd": w.project, "sessionId": "s1", "version": "2.1.197",
			"message": object{"role": role, "content": content},
		}
		if answer != "" {
			o["message"] = object{"role": role, "content": content, "id": answer, "model": "claude-x"}
		}
		for k, v := range more {
			o[k] = v
		}
		parent = id
		all = append(all, o)
	}
	all = append(all, object{"type": "queue-operation", "operation": "enqueue", "timestamp": at(1, 0), "sessionId": "s1"})
	for n := 1; n <= turns; n++ {
		id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		back := parent
		line(n, 0, id("gone"), "user", "", "not said: rewound", nil)
		parent = back
		content := []object{{"type": "text", "text": id("mend it ")}}
		if n == 1 {
			content = append(content, object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": Picture}})
		}
		line(n, 0, id("u"), "user", "", content, nil)
		line(n, 0, id("meta"), "user", "", "not said: a note", object{"isMeta": true})
		line(n, 1, id("t"), "assistant", id("m"), []object{{"type": "thinking", "thinking": id("hm "), "signature": "s"}}, nil)
		line(n, 1, id("x"), "assistant", id("m"), []object{{"type": "text", "text": "Looking."}}, nil)
		line(n, 1, id("c"), "assistant", id("m"), []object{{"type": "tool_use", "id": id("toolu_a"), "name": "Bash", "input": object{"command": "ls", "description": "List"}}}, nil)
		line(n, 1, id("d"), "assistant", id("m"), []object{{"type": "tool_use", "id": id("toolu_b"), "name": "Oracle", "input": object{"q": 1}}}, nil)
		line(n, 2, id("rd"), "user", "", []object{{"type": "tool_result", "tool_use_id": id("toolu_b"), "content": "forty-two"}}, object{"sourceToolAssistantUUID": id("d")})
		parent = id("c")
		line(n, 2, id("rc"), "user", "", []object{{"type": "tool_result", "tool_use_id": id("toolu_a"), "content": []object{{"type": "text", "text": "a.txt"}}}}, object{"sourceToolAssistantUUID": id("c")})
		line(n, 3, id("e"), "assistant", id("n"), []object{{"type": "text", "text": id("Done ") + "."}}, nil)
		all = append(all, object{"type": "user", "isSidechain": true, "uuid": id("side"), "timestamp": at(n, 3), "message": object{"role": "user", "content": "not said: of a sub-agent"}})
		all = append(all, object{"type": "ai-title", "aiTitle": "Mend it", "sessionId": "s1"})
	}
	w.lines(".claude/projects/-w/s1.jsonl", all)
}

func (w writer) codex(turns int) {
	item := func(turn, second int, payload object) object {
		return object{"timestamp": at(turn, second), "type": "response_item", "payload": payload}
	}
	said := func(role, kind, text string) object {
		return object{"type": "message", "role": role, "content": []object{{"type": kind, "text": text}}}
	}
	all := []object{
		{"timestamp": at(1, 0), "type": "session_meta", "payload": object{"id": "s1", "cwd": w.project, "originator": "codex"}},
		{"timestamp": at(1, 0), "type": "turn_context", "payload": object{"cwd": w.project, "model": "gpt-x"}},
		item(1, 0, said("user", "input_text", "<environment_context>not said</environment_context>")),
	}
	for n := 1; n <= turns; n++ {
		id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		prompt := said("user", "input_text", id("mend it "))
		if n == 1 {
			prompt["content"] = append(prompt["content"].([]object), object{"type": "input_image", "image_url": "data:image/png;base64," + Picture})
		}
		all = append(all,
			item(n, 0, prompt),
			object{"timestamp": at(n, 0), "type": "event_msg", "payload": object{"type": "user_message", "message": "not said"}},
			item(n, 1, object{"type": "reasoning", "summary": []object{{"type": "summary_text", "text": id("hm ")}}, "encrypted_content": "x"}),
			item(n, 1, said("assistant", "output_text", "Looking.")),
			item(n, 1, object{"type": "function_call", "name": "shell", "arguments": `{"command":["bash","-lc","ls"],"workdir":"/w"}`, "call_id": id("a")}),
			item(n, 1, object{"type": "function_call", "name": "oracle", "arguments": `{"q":1}`, "call_id": id("b")}),
			item(n, 2, object{"type": "function_call_output", "call_id": id("a"), "output": `{"output":"a.txt\n","metadata":{"exit_code":0}}`}),
			item(n, 2, object{"type": "function_call_output", "call_id": id("b"), "output": "forty-two"}),
			item(n, 3, said("assistant", "output_text", id("Done ")+".")))
	}
	w.lines(".codex/sessions/2026/01/02/rollout-1.jsonl", all)
}

func (w writer) gemini(turns int) {
	w.put(".gemini/tmp/w/.project_root", w.project)
	all := []object{
		{"sessionId": "s1", "projectHash": "abc", "startTime": at(1, 0), "lastUpdated": at(1, 0), "kind": "main"},
		{"$set": object{"messages": []object{{"id": "0", "timestamp": at(1, 0), "type": "user", "content": []object{{"text": "<session_context>not said</session_context>"}}}}}},
		{"id": "gone", "timestamp": at(1, 0), "type": "user", "content": "not said: rewound"},
		{"$rewindTo": "gone"},
	}
	for n := 1; n <= turns; n++ {
		id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		prompt := []object{{"text": id("mend it ")}}
		if n == 1 {
			prompt = append(prompt, object{"inlineData": object{"mimeType": "image/png", "data": Picture}})
		}
		answer := object{"id": id("b"), "timestamp": at(n, 1), "type": "gemini", "model": "gemini-x", "content": "Looking.", "thoughts": []object{{"subject": id("hm "), "description": ""}}}
		called := object{}
		for k, v := range answer {
			called[k] = v
		}
		result := func(id, name, output string) []object {
			return []object{{"functionResponse": object{"id": id, "name": name, "response": object{"output": output}}}}
		}
		called["toolCalls"] = []object{
			{"id": id("x"), "name": "run_shell_command", "args": object{"command": "ls", "description": "List"}, "status": "success", "result": result(id("x"), "run_shell_command", "a.txt")},
			{"id": id("y"), "name": "oracle", "args": object{"q": 1}, "status": "success", "result": result(id("y"), "oracle", "forty-two")},
		}
		all = append(all,
			object{"id": id("a"), "timestamp": at(n, 0), "type": "user", "content": prompt},
			object{"id": id("i"), "timestamp": at(n, 0), "type": "info", "content": "not said"},
			answer, object{"$set": object{"lastUpdated": at(n, 1)}}, called,
			object{"id": id("r"), "timestamp": at(n, 2), "type": "user", "content": result(id("x"), "run_shell_command", "a.txt")},
			object{"id": id("c"), "timestamp": at(n, 3), "type": "gemini", "model": "gemini-x", "content": []object{{"text": id("Done ") + "."}}},
			object{"$set": object{"summary": "Mend it"}})
	}
	w.lines(".gemini/tmp/w/chats/session-1.jsonl", all)
}

func (w writer) pi(turns int) {
	parent := any(nil)
	all := []object{{"type": "session", "version": 3, "id": "s1", "timestamp": at(1, 0), "cwd": w.project}}
	entry := func(turn, second int, id string, message object) {
		all = append(all, object{"type": "message", "id": id, "parentId": parent, "timestamp": at(turn, second), "message": message})
		parent = id
	}
	for n := 1; n <= turns; n++ {
		id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		prompt := []object{{"type": "text", "text": id("mend it ")}}
		if n == 1 {
			prompt = append(prompt, object{"type": "image", "data": Picture, "mimeType": "image/png"})
		}
		entry(n, 0, id("a"), object{"role": "user", "content": prompt})
		back := parent
		entry(n, 0, id("gone"), object{"role": "assistant", "content": []object{{"type": "text", "text": "not said: another branch"}}})
		parent = back
		entry(n, 1, id("b"), object{"role": "assistant", "model": "pi-x", "content": []object{
			{"type": "thinking", "thinking": id("hm ")},
			{"type": "text", "text": "Looking."},
			{"type": "toolCall", "id": id("x"), "name": "bash", "arguments": object{"command": "ls", "timeout": 5}},
			{"type": "toolCall", "id": id("y"), "name": "oracle", "arguments": object{"q": 1}},
		}})
		entry(n, 2, id("c"), object{"role": "toolResult", "toolCallId": id("x"), "toolName": "bash", "content": []object{{"type": "text", "text": "a.txt"}}})
		entry(n, 2, id("d"), object{"role": "toolResult", "toolCallId": id("y"), "toolName": "oracle", "content": []object{{"type": "text", "text": "forty-two"}}})
		entry(n, 3, id("e"), object{"role": "assistant", "model": "pi-x", "content": []object{{"type": "text", "text": id("Done ") + "."}}})
	}
	all = append(all, object{"type": "session_info", "id": "t", "parentId": parent, "name": "Mend it"})
	w.lines(".pi/agent/sessions/--w--/1_s1.jsonl", all)
}

// open opens a database that stays open, with its log, until the test ends: as while its program runs.
func (w writer) open(path, schema string) *sql.DB {
	w.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.tb.Fatal(err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "_pragma=journal_mode(WAL)"}).String())
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			w.tb.Error(err)
		}
	})
	w.do(db, schema)
	return db
}

func (w writer) do(db *sql.DB, query string, args ...any) {
	w.tb.Helper()
	if _, err := db.ExecContext(w.tb.Context(), query, args...); err != nil {
		w.tb.Fatalf("%s: %v", query, err)
	}
}

func (w writer) opencode(turns int) {
	db := w.open(filepath.Join(w.home, ".local", "share", "opencode", "opencode.db"), `
		CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
		CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
		CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`)
	n := 0
	message := func(session string, when time.Time, data object, parts ...object) {
		n++
		id := fmt.Sprintf("msg_%04d", n)
		data["time"] = object{"created": when.UnixMilli()}
		w.do(db, "INSERT OR REPLACE INTO message VALUES (?,?,?,?,?)", id, session, when.UnixMilli(), when.UnixMilli(), w.json(data))
		for i, p := range parts {
			w.do(db, "INSERT OR REPLACE INTO part VALUES (?,?,?,?,?,?)", fmt.Sprintf("prt_%04d_%d", n, i), id, session, when.UnixMilli(), when.UnixMilli(), w.json(p))
		}
	}
	text := func(s string) object { return object{"type": "text", "text": s} }
	for n := 1; n <= turns; n++ {
		id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		prompt := []object{text(id("mend it ")), {"type": "text", "synthetic": true, "text": "not said"}}
		if n == 1 {
			prompt = append(prompt, object{"type": "file", "mime": "image/png", "url": "data:image/png;base64," + Picture})
		}
		tool := func(name, call string, input object, output string) object {
			return object{"type": "tool", "tool": name, "callID": call, "state": object{"status": "completed", "input": input, "output": output}}
		}
		message("s1", moment(n, 0), object{"role": "user", "summary": object{"diffs": []any{}}, "model": object{"modelID": "oc-x"}}, prompt...)
		message("s1", moment(n, 1), object{"role": "assistant", "modelID": "oc-x"},
			object{"type": "step-start"}, object{"type": "reasoning", "text": id("hm ")}, text("Looking."),
			tool("bash", id("x"), object{"command": "ls", "description": "List"}, "a.txt\n"), tool("oracle", id("y"), object{"q": 1}, "forty-two"), object{"type": "step-finish"})
		message("s1", moment(n, 3), object{"role": "assistant", "modelID": "oc-x"}, text(id("Done ")+"."))
	}
	message("s1", moment(turns, 9), object{"role": "user"}, text("not said: reverted"))
	revert := w.json(object{"messageID": fmt.Sprintf("msg_%04d", n)})
	message("child", moment(turns, 9), object{"role": "user"}, text("not said: of a sub-agent"))
	w.do(db, "INSERT OR REPLACE INTO session VALUES ('s1','p',NULL,?,'Mend it',?,?,?)", w.project, revert, Begun.UnixMilli(), moment(turns, 9).UnixMilli())
	w.do(db, "INSERT OR REPLACE INTO session VALUES ('child','p','s1',?,'Child',NULL,?,?)", w.project, Begun.UnixMilli(), moment(turns, 9).UnixMilli())
	w.do(db, "INSERT OR REPLACE INTO session VALUES ('empty','p',NULL,'/elsewhere','Empty',NULL,1,1)")
}

func (w writer) crush(turns int) {
	db := w.open(filepath.Join(w.project, ".crush", "crush.db"), `
		CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT);
		CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL)`)
	w.put(".local/share/crush/projects.json", w.json(object{"projects": []object{{"path": w.project, "data_dir": filepath.Join(w.project, ".crush")}}}))
	n := 0
	message := func(session, role string, when time.Time, digest int, parts ...object) {
		n++
		w.do(db, "INSERT OR REPLACE INTO messages VALUES (?,?,?,?,'crush-x',?,?,NULL,'p',?)", fmt.Sprint("m", n), session, role, w.json(parts), when.Unix(), when.Unix(), digest)
	}
	part := func(kind string, data object) object { return object{"type": kind, "data": data} }
	text := func(s string) object { return part("text", object{"text": s}) }
	for n := 1; n <= turns; n++ {
		id := func(s string) string { return fmt.Sprintf("%s%d", s, n) }
		prompt := []object{text(id("mend it "))}
		if n == 1 {
			prompt = append(prompt, part("binary", object{"Path": "a.png", "MIMEType": "image/png", "Data": Picture}))
		}
		message("s1", "user", moment(n, 0), 0, prompt...)
		message("s1", "assistant", moment(n, 1), 0, part("reasoning", object{"thinking": id("hm ")}), text("Looking."),
			part("tool_call", object{"id": id("x"), "name": "bash", "input": `{"command":"ls","description":"List"}`, "finished": true}),
			part("tool_call", object{"id": id("y"), "name": "oracle", "input": `{"q":1}`, "finished": true}), part("finish", object{"reason": "tool_use"}))
		message("s1", "tool", moment(n, 2), 0,
			part("tool_result", object{"tool_call_id": id("x"), "name": "bash", "content": "a.txt"}),
			part("tool_result", object{"tool_call_id": id("y"), "name": "oracle", "content": "forty-two"}))
		message("s1", "assistant", moment(n, 3), 0, text(id("Done ")+"."))
		message("s1", "assistant", moment(n, 4), 1, text("not said: a summary"))
		message("child", "user", moment(n, 4), 0, text("not said: of a sub-agent"))
	}
	w.do(db, "INSERT OR REPLACE INTO sessions VALUES ('s1',NULL,'Mend it',?,?,?,NULL)", n, moment(turns, 4).Unix(), Begun.Unix())
	w.do(db, "INSERT OR REPLACE INTO sessions VALUES ('child','s1','Child',1,?,?,NULL)", moment(turns, 4).Unix(), Begun.Unix())
}
