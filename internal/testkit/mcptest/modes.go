package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// modes returns the faults by name.
func modes() map[string]func(*server) {
	m := map[string]func(*server){
		"ok": func(*server) {},
	}
	for _, group := range []map[string]func(*server){startModes(), frameModes(), answerModes(), lifeModes(), toolModes(), talkModes()} {
		for name, f := range group {
			m[name] = f
		}
	}
	return m
}

// on returns an intercept for one method.
func on(method string, f func(s *server, m message) bool) func(*server, message) bool {
	return func(s *server, m message) bool { return m.Method == method && f(s, m) }
}

func silent(*server, message) bool { return true }

func (s *server) duration(otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(s.value); err == nil {
		return d
	}
	return otherwise
}

func (s *server) count(otherwise int) int {
	if n, err := strconv.Atoi(s.value); err == nil {
		return n
	}
	return otherwise
}

// startModes returns faults before and in the handshake.
func startModes() map[string]func(*server) {
	exit := func(s *server) {
		fmt.Fprintln(os.Stderr, "Error: missing API key FOO_TOKEN")
		os.Exit(3)
	}
	hang := func(s *server) { s.intercept = on("initialize", silent) }
	slow := func(s *server) {
		wait := s.duration(6 * time.Second)
		s.intercept = on("initialize", func(s *server, m message) bool {
			go func() {
				time.Sleep(wait)
				s.handle(m)
			}()
			return true
		})
	}
	until := func(s *server) { // a file is there
		s.intercept = on("initialize", func(s *server, m message) bool {
			go func() {
				for _, err := os.Stat(s.value); err != nil; _, err = os.Stat(s.value) {
					time.Sleep(5 * time.Millisecond)
				}
				s.handle(m)
			}()
			return true
		})
	}
	gate := func(s *server) { // opens when the file of its value is there
		s.intercept = on("initialize", func(s *server, m message) bool {
			for {
				if _, err := os.Stat(s.value); err == nil {
					return false
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return map[string]func(*server){
		"gate": gate,
		"exit": exit, "exit1": exit,
		"hang": hang, "noinit": hang,
		"hang-ignoreterm": func(s *server) { ignoreTerm(); hang(s); s.onEOF = forever },
		"slowinit":        slow, "slow": slow, "until": until,
		"nodiscover-silent": func(s *server) { s.intercept = on("server/discover", silent) },
		"nodiscover-exit": func(s *server) {
			var ready atomic.Bool
			s.intercept = func(s *server, m message) bool {
				if m.Method != "initialize" && !ready.Load() {
					os.Exit(1)
				}
				ready.Store(true)
				return false
			}
		},
		"modernonly": modern,
		"badversion": func(s *server) { s.version = "1999-01-01" },
		"initerr": func(s *server) {
			s.intercept = func(s *server, m message) bool {
				if m.Method == "initialize" || m.Method == "server/discover" {
					s.fail(m.ID, -32000, "no license", nil)
					return true
				}
				return false
			}
		},
		"old": func(s *server) { s.version = "2024-11-05" },
	}
}

// modern is a server that only knows the protocol of 2026.
func modern(s *server) {
	s.intercept = func(s *server, m message) bool {
		switch m.Method {
		case "initialize":
			s.fail(m.ID, -32601, "Method not found", nil)
		case "server/discover":
			s.reply(m.ID, map[string]any{
				"resultType": "complete", "supportedVersions": []string{"2026-07-28"}, "capabilities": s.capabilities,
				"_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": "modern", "version": "9"}},
			})
		default:
			return false
		}
		return true
	}
}

// frameModes change frames or put something between them.
func frameModes() map[string]func(*server) {
	line := func(f func([]byte) []byte) func(*server) { return func(s *server) { s.frame = f } }
	return map[string]func(*server){
		"junk": func(s *server) {
			s.writeRaw([]byte("Server running on stdio\n\n"))
			s.frame = func(f []byte) []byte {
				return append(append([]byte("npm warn deprecated glob@7: old\n\n"), f...), '\n')
			}
		},
		"junkjson": func(s *server) {
			s.writeRaw([]byte(`{"level":"info","msg":"starting"}` + "\n42\n[]\nnull\n\"text\"\n[1,2]\n"))
			s.frame = func(f []byte) []byte { return append(append([]byte(`{"level":"debug"}`+"\n"), f...), '\n') }
		},
		"bom":   line(func(f []byte) []byte { return append(append([]byte("\xef\xbb\xbf"), f...), '\n') }),
		"blank": line(func(f []byte) []byte { return append(append([]byte("\n  \n\t\n"), f...), "\n\n"...) }),
		"junkafter": func(s *server) {
			s.intercept = on("notifications/initialized", func(s *server, _ message) bool {
				s.writeRaw([]byte("ready to serve\n"))
				return true
			})
		},
		"junkmid": func(s *server) {
			s.intercept = on("tools/call", func(s *server, _ message) bool {
				s.writeRaw([]byte("Traceback (most recent call last):\n  File \"server.py\", line 1\nValueError: x\n"))
				return false
			})
		},
		"trailspace": line(func(f []byte) []byte { return append(append([]byte("  "), f...), "  \t\n"...) }),
		"crlf":       line(func(f []byte) []byte { return append(f, "\r\n"...) }),
		"batch":      line(func(f []byte) []byte { return append(append([]byte("["), f...), "]\n"...) }),
		"extra": line(func(f []byte) []byte {
			return append(append([]byte(`{"x-trace":{"id":99,"method":"no"},`), f[1:]...), '\n')
		}),
		"errornull": line(func(f []byte) []byte {
			if bytes.Contains(f, []byte(`"error"`)) || bytes.Contains(f, []byte(`"method"`)) {
				return append(f, '\n')
			}
			return append(append([]byte(`{"error":null,`), f[1:]...), '\n')
		}),
		"idfloat":  line(dressID(func(id string) string { return id + ".0" })),
		"idstring": line(dressID(func(id string) string { return `"` + id + `"` })),
	}
}

// dressID rewrites the number that is the id of a response.
func dressID(dress func(string) string) func([]byte) []byte {
	return func(f []byte) []byte {
		var m message
		if json.Unmarshal(f, &m) == nil && m.Method == "" {
			if _, err := strconv.Atoi(string(m.ID)); err == nil {
				f = bytes.Replace(f, []byte(`"id":`+string(m.ID)), []byte(`"id":`+dress(string(m.ID))), 1)
			}
		}
		return append(f, '\n')
	}
}

// lifeModes are about how a server ends, or fails to.
func lifeModes() map[string]func(*server) {
	noEOF := func(s *server) { s.onEOF = forever }
	ignoring := func(s *server) { ignoreTerm(); s.onEOF = forever }
	return map[string]func(*server){
		"dieincall": plain, "crash-on-call": plain, "exit0-on-call": plain,
		"noeof": noEOF, "ignore-eof": noEOF,
		"noeof-ignoreterm": ignoring, "ignore-term": ignoring,
		"grandchild":   func(s *server) { startChild(s, false); s.onEOF = forever },
		"child-daemon": func(s *server) { startChild(s, true) },
		"sleeper":      func(s *server) { forever(s) },
		"no-ping":      func(s *server) { s.intercept = on("ping", silent) },
		"noread": func(s *server) {
			s.intercept = on("tools/call", func(s *server, _ message) bool {
				forever(s)
				return true
			})
		},
		"stderr-flood": func(s *server) {
			lines := []byte(strings.Repeat(strings.Repeat("e", 99)+"\n", 100))
			for range 500 {
				_, _ = os.Stderr.Write(lines) // whoever reads it
			}
		},
		"no-newline": func(s *server) {
			s.intercept = on("tools/call", func(s *server, m message) bool {
				if !bytes.Contains(m.Params, []byte(`"big"`)) {
					return false
				}
				chunk := bytes.Repeat([]byte("x"), 1<<20)
				s.writeRaw([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, m.ID)))
				for range s.count(500) {
					s.writeRaw(chunk)
				}
				s.writeRaw([]byte("\"}]}}\n"))
				return true
			})
		},
	}
}

// plain is a mode whose fault is one of the base tools: die, exit0.
func plain(*server) {}

func ignoreTerm() { signal.Ignore(syscall.SIGTERM, os.Interrupt) }

// forever blocks; a server that nobody ends ends itself after ten minutes.
func forever(*server) { time.Sleep(10 * time.Minute) }
