package host

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"jcode/internal/text"
	"jcode/lua/wire"
)

// Limits of the output of a script during one piece of work.
const (
	maxLog      = 64 << 10
	maxCaptured = 32 << 10
	progressGap = 100 * time.Millisecond
)

// output limits the output of a script.
type output struct {
	logged   int
	full     bool
	captured strings.Builder // lua_eval gets its print back in the result
	progress time.Time
}

func (s *script) log(level, text string) {
	if s.out.full {
		return
	}
	if s.out.logged += len(text) + 1; s.out.logged > maxLog {
		s.out.full = true
		text = fmt.Sprintf("(more than %d KiB of output in one call; the rest is dropped)", maxLog>>10)
	}
	s.peer.send(&wire.Message{Type: wire.TypeLog, Kind: level, Text: text})
}

func (s *script) print(L *lua.LState) int {
	var b strings.Builder
	for i := 1; i <= L.GetTop(); i++ {
		if i > 1 {
			b.WriteByte('\t')
		}
		b.WriteString(L.ToStringMeta(L.Get(i)).String())
	}
	if s.env == wire.EnvEval {
		s.capture(b.String() + "\n")
		return 0
	}
	s.log("print", b.String())
	return 0
}

func (s *script) capture(text string) {
	room := maxCaptured - s.out.captured.Len()
	if s.out.full || room <= 0 {
		s.out.full = true
		return
	}
	if len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text = text[:room]
		s.out.full = true
	}
	s.out.captured.WriteString(text)
}

func (s *script) jcodeLog(L *lua.LState) int {
	level, text := L.CheckString(1), L.CheckString(2)
	switch level {
	case "debug", "info", "warn", "error":
	default:
		L.ArgError(1, "level must be debug, info, warn or error")
	}
	s.log(level, text)
	return 0
}

func (s *script) jcodeProgress(L *lua.LState) int {
	line := L.CheckString(1)
	if now := time.Now(); now.Sub(s.out.progress) >= progressGap {
		s.out.progress = now
		s.peer.send(&wire.Message{Type: wire.TypeProgress, Text: text.Headline(line)})
	}
	return 0
}
