package mcptest

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"
)

func define(name, description, schema string) string {
	d, err := json.Marshal(description)
	if err != nil {
		panic(err) // a string always encodes
	}
	n, _ := json.Marshal(name)
	return fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":%s}`, n, d, schema)
}

func textSchema(arg string) string {
	return fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}}}`, arg)
}

const anySchema = `{"type":"object","properties":{},"additionalProperties":true}`

// baseTools returns the tools of every mode that does not replace them.
func baseTools() []tool {
	return []tool{
		{"echo", define("echo", "Gives its text back.", textSchema("text")), func(s *server, c call) {
			s.text(c, fmt.Sprint("echo: ", c.args["text"]))
		}},
		{"sleep", define("sleep", "Answers after ms milliseconds, and not before the file until is there.", `{"type":"object","properties":{"ms":{"type":"number"},"until":{"type":"string"}}}`), runSleep},
		{"never", define("never", "Never answers.", anySchema), func(*server, call) {}},
		{"env", define("env", "Lists the server's environment.", anySchema), func(s *server, c call) {
			env := os.Environ()
			sort.Strings(env)
			s.text(c, strings.Join(env, "\n"))
		}},
		{"pid", define("pid", "Gives the server's process ID.", anySchema), func(s *server, c call) {
			s.text(c, fmt.Sprint(os.Getpid()))
		}},
		{"progress", define("progress", "Reports progress every `every` ms for `ms` ms, then answers.", `{"type":"object","properties":{"ms":{"type":"number"},"every":{"type":"number"}}}`), runProgress},
		{"big", define("big", "Answers with this many bytes.", `{"type":"object","properties":{"bytes":{"type":"number"}}}`), func(s *server, c call) {
			s.text(c, strings.Repeat("x", number(c, "bytes")))
		}},
		{"die", define("die", "Ends the server with a panic.", anySchema), func(*server, call) {
			fmt.Fprintln(os.Stderr, "panic: index out of range")
			os.Exit(2)
		}},
		{"exit0", define("exit0", "Ends the server quietly.", anySchema), func(*server, call) { os.Exit(0) }},
	}
}

func number(c call, name string) int {
	f, _ := c.args[name].(float64)
	return int(f)
}

func runSleep(s *server, c call) {
	until, _ := c.args["until"].(string)
	for wait := time.Duration(number(c, "ms")) * time.Millisecond; ; wait = 5 * time.Millisecond {
		select {
		case <-time.After(wait):
		case <-c.end:
			return
		}
		if _, err := os.Stat(until); until == "" || err == nil {
			s.text(c, fmt.Sprint("slept ", number(c, "ms")))
			return
		}
	}
}

func runProgress(s *server, c call) {
	ticks := time.NewTicker(time.Duration(max(number(c, "every"), 1)) * time.Millisecond)
	defer ticks.Stop()
	end := time.After(time.Duration(number(c, "ms")) * time.Millisecond)
	for n := 1; ; n++ {
		select {
		case <-ticks.C:
			s.notify("notifications/progress", map[string]any{"progressToken": c.token, "progress": n, "message": fmt.Sprint("tick ", n)})
		case <-end:
			s.text(c, "done")
			return
		case <-c.end:
			return
		}
	}
}

func raw(name, result string) tool {
	return tool{name, define(name, "Answers with a fixed result.", anySchema), func(s *server, c call) { s.replyRaw(c.id, []byte(result)) }}
}

// resultTools returns tools that answer with every kind of odd result.
func resultTools() []tool {
	return []tool{
		raw("unknowncontent", `{"content":[{"type":"hologram","x":1},{"type":"text","text":"still here"}]}`),
		raw("strcontent", `{"content":"only a string"}`),
		raw("badb64", `{"content":[{"type":"image","data":"%%%","mimeType":"image/png"},{"type":"text","text":"still here"}]}`),
		raw("nocontent", `{}`),
		raw("nullcontent", `{"content":null}`),
		raw("nullresult", `null`),
		raw("iserror", `{"isError":true,"content":[{"type":"text","text":"first reason"},{"type":"text","text":"second reason"}]}`),
		raw("two-texts", `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`),
		raw("image", `{"content":[{"type":"text","text":"a picture"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}]}`),
		raw("structured-only", `{"content":[],"structuredContent":{"zebra":1,"apple":9007199254740993}}`),
		{"rpcerror", define("rpcerror", "Fails with a JSON-RPC error.", anySchema), func(s *server, c call) {
			s.fail(c.id, -32050, "quota exceeded", map[string]any{"limit": 3})
		}},
	}
}
