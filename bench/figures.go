package main

import "strings"

// job is one call of go test: the benchmarks, or the tests, of a package that figures come
// from.
type job struct {
	name, pkg string
	// time is -benchtime, "" for the default.
	time string
	// whole says that the real program is run, which -runs bounds and only Linux measures.
	whole bool
	// tree says that the benchmarks search a large folder.
	tree bool
	// counts says that tests are run, which report what they count as attributes.
	counts bool
	// functions are the benchmarks or tests that the wanted figures need.
	functions []string
}

// value is one number out of a job's output.
type value struct {
	job, from, unit string
}

// function is the benchmark or test that reports it.
func (v value) function() string {
	name, _, _ := strings.Cut(v.from, "/")
	return name
}

// figure is one row of the table.
type figure struct {
	name string
	// what the number is counted in, as it is shown.
	unit   string
	budget float64
	value  value
	// over, where it is set, divides the value. The same function reports it.
	over *value
	// scale makes of the measured number the shown one; 0 is 1.
	scale float64
}

func jobs() []job {
	return []job{
		{name: "program", pkg: "./bench", whole: true},
		{name: "markdown", pkg: "./tui/markdown"},
		{name: "tui", pkg: "./tui"},
		{name: "session", pkg: "./session"},
		{name: "roles", pkg: "./agent"},
		{name: "mcp", pkg: "./mcp"},
		{name: "lua", pkg: "./lua"},
		{name: "lua files", pkg: "./lua", time: "10x"},
		{name: "skill files", pkg: "./skills", time: "10x"},
		{name: "search", pkg: "./internal/search", time: "5x", tree: true},
		{name: "documents", pkg: "./tools/retrieval", time: "20x"},
		{name: "notes", pkg: "./notes"},
		{name: "building", pkg: "./tools/retrieval", time: "1x"},
		{name: "counts", pkg: "./cli", counts: true},
		{name: "markdown counts", pkg: "./tui/markdown", counts: true},
		{name: "tui counts", pkg: "./tui", counts: true},
	}
}

func figures() []figure {
	const perNanosecond = 1e-6 // milliseconds
	program := func(benchmark, unit string) value { return value{"program", "Benchmark" + benchmark, unit} }
	ns := func(job, benchmark string) value { return value{job, "Benchmark" + benchmark, "ns/op"} }
	list := []figure{
		{name: "--version, wall", unit: "ms", budget: 6, value: program("Version", "wall-ms")},
		{name: "-p hello: start to first request", unit: "ms", budget: 30, value: program("Hello", "request-ms")},
		{name: "-p hello: wall", unit: "ms", budget: 35, value: program("Hello", "wall-ms")},
		{name: "-p hello: CPU", unit: "ms", budget: 35, value: program("Hello", "cpu-ms")},
		{name: "-p hello: peak memory", unit: "MiB", budget: 40, value: program("Hello", "peak-MiB")},
		{name: "-p hello: bytes of the request", unit: "KiB", budget: 9, value: program("Hello", "request-KiB")},
		{name: "50 rounds of reading a file: answer to next request", unit: "ms", budget: 1.5, value: program("Tools50", "gap-ms")},
		{name: "50 rounds of reading a file: wall", unit: "ms", budget: 160, value: program("Tools50", "wall-ms")},
		{name: "50 rounds of reading a file: CPU", unit: "ms", budget: 160, value: program("Tools50", "cpu-ms")},
		{name: "20,000 tokens streamed, headless: wall", unit: "ms", budget: 200, value: program("Stream", "wall-ms")},
		{name: "20,000 tokens streamed, headless: CPU", unit: "ms", budget: 200, value: program("Stream", "cpu-ms")},
		{name: "terminal: launch to prompt", unit: "ms", budget: 30, value: program("TerminalLaunch", "launch-ms")},
		{name: "terminal: launch ÷ that of a bare program of the same libraries", unit: "×", budget: 1.2, value: program("TerminalLaunch", "launch-÷-bare")},
		{name: "terminal, idle: memory", unit: "MiB", budget: 34, value: program("TerminalLaunch", "idle-MiB")},
		{name: "terminal, idle: CPU", unit: "%", budget: 0.1, value: program("TerminalLaunch", "idle-cpu-%")},
		{name: "terminal: key to screen, median", unit: "ms", budget: 4, value: program("TerminalKey", "median-ms")},
		{name: "terminal: key to screen, worst", unit: "ms", budget: 10, value: program("TerminalKey", "worst-ms")},
		{name: "terminal: key to screen with eight agents at work, median", unit: "ms", budget: 4, value: program("TerminalAgents", "median-ms")},
		{name: "terminal: key to screen while 50 MB of documents are indexed, median", unit: "ms", budget: 4, value: program("TerminalIndexing", "median-ms")},
		{name: "an agent in a worktree of 10,000 files, to its first request", unit: "ms", budget: 1000, value: program("WorktreeAgent", "request-ms")},
		{name: "an agent in a worktree of 10,000 files ÷ git worktree add", unit: "×", budget: 1, value: program("WorktreeAgent", "request-÷-git")},
		{name: "terminal: 20,000 tokens streamed, wall", unit: "ms", budget: 400, value: program("TerminalStream", "wall-ms")},
		{name: "terminal: 20,000 tokens streamed, CPU", unit: "ms", budget: 500, value: program("TerminalStream", "cpu-ms")},
		{name: "terminal: memory after that", unit: "MiB", budget: 60, value: program("TerminalStream", "after-MiB")},
		{name: "terminal: 150 tokens/s for 10 s, CPU", unit: "ms", budget: 600, value: program("TerminalSlow", "cpu-ms")},
		{name: "terminal: the last token of an answer at 60 tokens/s to the screen, slowest of five", unit: "ms", budget: 14, value: program("TerminalLastToken/60", "worst-ms")},
		{name: "terminal: the last token of an answer at 150 tokens/s to the screen, slowest of five", unit: "ms", budget: 14, value: program("TerminalLastToken/150", "worst-ms")},
		{name: "terminal: 150 tokens/s, bytes written ÷ bytes of text", unit: "×", budget: 3, value: program("TerminalSlow", "written-÷-text")},
		{name: "terminal: going on with 10,000 messages, to the frame", unit: "ms", budget: 150, value: program("TerminalResume", "resume-ms")},
		{name: "terminal: memory with 10,000 messages", unit: "MiB", budget: 80, value: program("TerminalResume", "after-MiB")},

		{name: "editor: start to the answer of initialize", unit: "ms", budget: 25, value: program("Editor", "initialize-ms")},
		{name: "editor: a new session", unit: "ms", budget: 50, value: program("Editor", "session-ms")},
		{name: "editor: 20,000 tokens streamed, wall", unit: "ms", budget: 300, value: program("Editor", "stream-ms")},
		{name: "editor: memory after that", unit: "MiB", budget: 60, value: program("Editor", "after-MiB")},
		{name: "editor: end of its input to the end of jcode", unit: "ms", budget: 2000, value: program("Editor", "end-ms")},

		{name: "Markdown: a delta after 64 KB ÷ after 1 KB", unit: "×", budget: 1.5, value: ns("markdown", "Delta/after64KB"), over: &value{"markdown", "BenchmarkDelta/after1KB", "ns/op"}},
		{name: "Markdown: 4 KB", unit: "ms", budget: 1, value: ns("markdown", "Whole/4KB"), scale: perNanosecond},
		{name: "Markdown: 64 KB", unit: "ms", budget: 16, value: ns("markdown", "Whole/64KB"), scale: perNanosecond},
		{name: "a frame at 10,000 items", unit: "ms", budget: 2, value: ns("tui", "Frame/10000items"), scale: perNanosecond},
		{name: "a frame at 10,000 items ÷ at 100", unit: "×", budget: 1.2, value: ns("tui", "Frame/10000items"), over: &value{"tui", "BenchmarkFrame/100items", "ns/op"}},
		{name: "key to frame, input of 500 lines", unit: "ms", budget: 4, value: ns("tui", "KeyToFrame500Lines"), scale: perNanosecond},
		{name: "commit of one message", unit: "ms", budget: 2, value: ns("session", "AppendMessage"), scale: perNanosecond},
		{name: "role switch", unit: "ms", budget: 20, value: ns("roles", "RoleSwitch"), scale: perNanosecond},
		{name: "MCP: start of a server to usable tools", unit: "ms", budget: 50, value: ns("mcp", "Connect"), scale: perNanosecond},
		{name: "MCP: a call ÷ one of the SDK's own client", unit: "×", budget: 1.1, value: ns("mcp", "Call/jcode"), over: &value{"mcp", "BenchmarkCall/sdk", "ns/op"}},
		{name: "Lua: warm call of a tool, median", unit: "ms", budget: 0.5, value: value{"lua", "BenchmarkWarmCall", "µs/p50"}, scale: 1e-3},
		{name: "Lua: warm call of a tool, 99th of 100", unit: "ms", budget: 5, value: value{"lua", "BenchmarkWarmCall", "µs/p99"}, scale: 1e-3},
		{name: "a Lua tool saved → live", unit: "ms", budget: 300, value: value{"lua files", "BenchmarkSavedFileToLive", "µs/p50"}, scale: 1e-3},
		{name: "a skill saved → live", unit: "ms", budget: 300, value: ns("skill files", "SavedToLive"), scale: perNanosecond},
		{name: "a command file saved → live", unit: "ms", budget: 300, value: ns("skill files", "CommandSavedToLive"), scale: perNanosecond},
		{name: "documents: 10,000 passages searched by words", unit: "ms", budget: 40, value: ns("documents", "Search/words"), scale: perNanosecond},
		{name: "documents: searched by embeddings as well", unit: "ms", budget: 80, value: ns("documents", "Search/hybrid"), scale: perNanosecond},
		{name: "notes: the index of 200 notes, read by a new process", unit: "ms", budget: 2, value: ns("notes", "IndexAtStart"), scale: perNanosecond},
		{name: "recall over 10,000 sessions", unit: "ms", budget: 100, value: ns("session", "Recall"), scale: perNanosecond},
		{name: "documents: 50 MB of Markdown indexed", unit: "s", budget: 30, value: ns("building", "Build"), scale: 1e-9},
	}
	search := func(name, benchmark string, budget float64) figure {
		return figure{name: name, unit: "×", budget: budget, value: value{"search", benchmark, "ratio"}}
	}
	for _, p := range []struct {
		pattern string
		budget  float64
	}{
		{"literal", 1.15},
		{"common-literal", 1.15},
		{"regex", 1.15},
		{"alternation", 1.15},
		{"ignore-case", 1.15},
		{"short-literal", 1.5},
		{"no-literal", 1.5},
	} {
		list = append(list, search("grep ÷ ripgrep, "+p.pattern, "BenchmarkGrepAgainstRipgrep/"+p.pattern, p.budget))
	}
	list = append(list, search("glob ÷ fd", "BenchmarkGlobAgainstFd", 1.5))
	count := func(name, job, test, attr string, budget float64) figure {
		unit := strings.TrimSuffix(attr, "-ratio")
		if unit != attr {
			unit = "× " + unit
		}
		return figure{name: name, unit: unit, budget: budget, value: value{job, test, attr}}
	}
	return append(list,
		count("first request, all builtin tools offered", "counts", "TestFirstRequestIsSmallAndTheOnlyOne", "bytes", 9<<10),
		count("builtin schemas and system prompt (bytes/4)", "counts", "TestSchemasAndSystemPromptAreShort", "tokens", 4000),
		count("a prompt without tools", "counts", "TestFirstRequestIsSmallAndTheOnlyOne", "requests", 1),
		count("10 rounds of tools", "counts", "TestRoundsOfToolsCostOneRequestEachOnOneConnection", "requests", 11),
		count("10 rounds of tools", "counts", "TestRoundsOfToolsCostOneRequestEachOnOneConnection", "connections", 2),
		count("a streamed delta, from the socket to the output", "counts", "TestDeltaAllocatesLittleAndAPipeGetsTheAnswerAtOnce", "allocations", 1),
		count("a whole answer to a pipe", "counts", "TestDeltaAllocatesLittleAndAPipeGetsTheAnswerAtOnce", "writes", 3),
		count("Markdown: 4 KB of deltas after 64 KB ÷ after 1 KB", "markdown counts", "TestDeltaCostsTheSameLateInAnAnswer", "allocations-ratio", 1.5),
		count("a frame at 10,000 items ÷ at 100", "tui counts", "TestFrameDoesNotDependOnTheTranscript", "allocations-ratio", 1.2),
		count("sentences streamed to the terminal ÷ their text", "tui counts", "TestStreamWritesAFewBytesPerByteShown/sentences", "bytes-ratio", 3),
		count("short coloured lines streamed to the terminal ÷ their text", "tui counts", "TestStreamWritesAFewBytesPerByteShown/short_colours", "bytes-ratio", 3),
	)
}
