package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// firstAnswer returns a mode that changes the form of the answer to the first call of echo, including its
// line end.
func firstAnswer(dress func(id, answer string) string) func(*server) {
	return func(s *server) {
		var answered atomic.Bool
		s.intercept = on("tools/call", func(s *server, m message) bool {
			var call struct{ Name string }
			if json.Unmarshal(m.Params, &call) != nil || call.Name != "echo" {
				return false
			}
			if answered.Swap(true) {
				return false
			}
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"odd"}]}}`, m.ID)
			s.writeRaw([]byte(dress(string(m.ID), answer)))
			return true
		})
	}
}

// answerModes answer the first call of echo with something other than a message on its own line.
func answerModes() map[string]func(*server) {
	line := func(format string) func(*server) {
		return firstAnswer(func(id, _ string) string { return fmt.Sprintf(format, id) + "\n" })
	}
	const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
	return map[string]func(*server){
		// Those that can be read.
		"pretty": firstAnswer(func(_, answer string) string {
			var b bytes.Buffer
			if json.Indent(&b, []byte(answer), "", "  ") != nil {
				return answer
			}
			return b.String() + "\n"
		}),
		"prettybatch": firstAnswer(func(_, answer string) string { return "[\n  " + notice + ",\n  " + answer + "\n]\n" }),
		"nojsonrpc": firstAnswer(func(_, answer string) string {
			return string(bytes.Replace([]byte(answer), []byte(`"jsonrpc":"2.0",`), nil, 1)) + "\n"
		}),
		"oldjsonrpc": firstAnswer(func(_, answer string) string {
			return string(bytes.Replace([]byte(answer), []byte(`"2.0"`), []byte(`"1.0"`), 1)) + "\n"
		}),
		"twoonline":    firstAnswer(func(_, answer string) string { return notice + answer + "\n" }),
		"threeonline":  firstAnswer(func(_, answer string) string { return notice + " " + answer + notice + "\n" }),
		"afterprompt":  firstAnswer(func(_, answer string) string { return "server {ready}> " + answer + "\n" }),
		"beforetext":   firstAnswer(func(_, answer string) string { return answer + " done\n" }),
		"nonewline":    firstAnswer(func(_, answer string) string { return answer }),
		"afterbracket": firstAnswer(func(_, answer string) string { return "{\n" + answer + "\n" }),
		"loggedfirst": firstAnswer(func(id, answer string) string {
			return "{ jsonrpc: '2.0', id: " + id + ", result: { content: [] } }\n" + answer + "\n"
		}),
		// Those that can't.
		"nan":       line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"score":NaN}}`),
		"cutanswer": line(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"te`),
		"cutopen":   firstAnswer(func(id, _ string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"cont` }),
		"python":    line(`{'jsonrpc': '2.0', 'id': %s, 'result': {'content': []}}`),
		"noresult":  line(`{"jsonrpc":"2.0","id":%s}`),
		"nullid": firstAnswer(func(string, string) string {
			return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}` + "\n"
		}),
		"foreignid":  firstAnswer(func(string, string) string { return `{"jsonrpc":"2.0","id":"other","result":{"content":[]}}` + "\n" }),
		"controlled": line("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\tb\"}]}}"),
		"emptyerror": line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1}}`),
	}
}
