package wire

import (
	"strings"
	"testing"
)

// The lines that explain an exit are kept, whatever else the language prints.
func TestReasonOfAnExit(t *testing.T) {
	t.Parallel()
	frames := strings.Repeat("    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n", 200)
	for name, c := range map[string]struct{ stderr, want string }{
		"plain": {"Error: missing API key FOO_TOKEN\n", "Error: missing API key FOO_TOKEN"},
		"node": {
			"/srv/index.js:3\nthrow new Error(\"missing API key FOO\");\n^\n\nError: missing API key FOO\n    at Object.<anonymous> (/srv/index.js:3:7)\n" + frames + "\nNode.js v22.12.0\n",
			"Error: missing API key FOO",
		},
		"node with a code": {
			"node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module '/srv/x.js'\n" + frames + "  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.1.0\n",
			"Error: Cannot find module '/srv/x.js' | code: 'MODULE_NOT_FOUND', | requireStack: []",
		},
		"deno":   {"error: Uncaught (in promise) Error: no key\n    at file:///srv/main.ts:1:7\n", "error: Uncaught (in promise) Error: no key"},
		"bun":    {"1 | throw new Error(\"no key\");\n          ^\nerror: no key\n      at /srv/index.ts:1:7\n\nBun v1.1.30 (Linux x64)\n", "error: no key"},
		"python": {"INFO starting\nTraceback (most recent call last):\n  File \"/srv/a.py\", line 3, in <module>\n    main()\nKeyError: 'FOO_TOKEN'\n", "KeyError: 'FOO_TOKEN'"},
		"java":   {"Exception in thread \"main\" java.lang.IllegalStateException: no key\n\tat com.x.Main.main(Main.java:5)\n\t... 12 more\n", "Exception in thread \"main\" java.lang.IllegalStateException: no key"},
		"rust":   {"thread 'main' panicked at src/main.rs:2:5:\nno key\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", "thread 'main' panicked at src/main.rs:2:5: | no key"},
		"rust with a trace": {
			"thread 'main' panicked at src/main.rs:2:5:\nno key\nstack backtrace:\n" + strings.Repeat("   0: core::panicking::panic\n             at /rustc/abc/library/core/src/panicking.rs:75:14\n", 100),
			"thread 'main' panicked at src/main.rs:2:5: | no key",
		},
		"go":         {"panic: no key\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:4 +0x25\nexit status 2\n", "panic: no key"},
		"ruby":       {"/srv/a.rb:1:in `<main>': no key (RuntimeError)\n\tfrom /srv/b.rb:2:in `x'\n", "/srv/a.rb:1:in `<main>': no key (RuntimeError)"},
		"no newline": {"no key", "no key"},
		"long log":   {strings.Repeat("INFO working\n", 500) + "last words\n", "INFO working | INFO working | last words"},
		"early error": {
			"Error: no key\n" + strings.Repeat("shutting down\n", 50), "Error: no key | shutting down | shutting down",
		},
	} {
		for _, chunk := range []int{1 << 20, 7} {
			log := NewLog("", "s")
			for rest := []byte(c.stderr); len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
				if _, err := log.Write(rest[:min(chunk, len(rest))]); err != nil {
					t.Fatal(err)
				}
			}
			got := log.Reason()
			if got != c.want {
				t.Errorf("%s: got %q, want %q", name, got, c.want)
			}
		}
	}
}

func TestTheQuickLookForAnErrorMissesNone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"Uncaught TypeError: x", "java.lang.Exception", "App.Panic:", "Caused by: E2Error [ERR_X]: y", "Fatal error: z", "fatal: not a git repository",
		"FATAL could not bind", "panic: index out of range", "thread 'main' panicked", "** (RuntimeError) oops", "error[E0308]: mismatched", "error: no such file",
		"KeyError", `Exception in thread "main" java.lang.Error: x`, "line 3: bad value (ValueError)",
	} {
		if !errorLine().MatchString(line) || !mayNameError(line) {
			t.Errorf("%q: an error %v, by the quick look %v", line, errorLine().MatchString(line), mayNameError(line))
		}
	}
}
