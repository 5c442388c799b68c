package host

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

func (s *script) jsonEncode(L *lua.LState) int {
	v, err := s.toWire("", L.CheckAny(1))
	if err == nil {
		var text []byte
		if text, err = wire.EncodeJSON(v, true); err == nil {
			L.Push(lua.LString(text))
			return 1
		}
	}
	L.Push(lua.LNil)
	L.Push(lua.LString(err.Error()))
	return 2
}

func (s *script) jsonDecode(L *lua.LState) int {
	v, err := wire.DecodeJSON([]byte(L.CheckString(1)))
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(s.fromWire(v))
	return 1
}

func (s *script) jsonArray(L *lua.LState) int {
	t := table(L, 1)
	if mt, ok := t.Metatable.(*lua.LTable); ok && mt != s.arrayMT {
		L.ArgError(1, "the table has a metatable")
	}
	t.Metatable = s.arrayMT
	L.Push(t)
	return 1
}

// maxPatterns bounds the cache of compiled patterns.
const maxPatterns = 64

// pattern compiles an RE2 pattern, or pushes nil and a message.
func (s *script) pattern(L *lua.LState, text string) *regexp.Regexp {
	if re := s.srv.patterns[text]; re != nil {
		return re
	}
	re, err := regexp.Compile(text)
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return nil
	}
	if len(s.srv.patterns) >= maxPatterns {
		clear(s.srv.patterns)
	}
	s.srv.patterns[text] = re
	return re
}

// groups pushes the captures of a match, or the whole match if there are none.
func groups(L *lua.LState, text string, loc []int, whole bool) int {
	first := 1
	if len(loc) == 2 {
		if !whole {
			return 0
		}
		first = 0
	}
	n := 0
	for i := first; i < len(loc)/2; i++ {
		if loc[2*i] < 0 {
			L.Push(lua.LNil)
		} else {
			L.Push(lua.LString(text[loc[2*i]:loc[2*i+1]]))
		}
		n++
	}
	return n
}

func (s *script) regexFind(L *lua.LState) int {
	text := L.CheckString(1)
	re := s.pattern(L, L.CheckString(2))
	if re == nil {
		return 2
	}
	start := L.OptInt(3, 1)
	if start < 0 {
		start = max(len(text)+start+1, 1)
	}
	start = max(start, 1)
	if start > len(text)+1 {
		L.Push(lua.LNil)
		return 1
	}
	loc := re.FindStringSubmatchIndex(text[start-1:])
	if loc == nil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(start + loc[0]))
	L.Push(lua.LNumber(start + loc[1] - 1))
	return 2 + groups(L, text[start-1:], loc, false)
}

func (s *script) regexMatch(L *lua.LState) int {
	text := L.CheckString(1)
	re := s.pattern(L, L.CheckString(2))
	if re == nil {
		return 2
	}
	loc := re.FindStringSubmatchIndex(text)
	if loc == nil {
		L.Push(lua.LNil)
		return 1
	}
	return groups(L, text, loc, true)
}

func (s *script) regexGsub(L *lua.LState) int {
	text := L.CheckString(1)
	re := s.pattern(L, L.CheckString(2))
	if re == nil {
		return 2
	}
	most := L.OptInt(4, -1)
	var b strings.Builder
	last, n := 0, 0
	s.threads.enter(L)
	defer s.threads.leave(L)
	for _, loc := range re.FindAllStringSubmatchIndex(text, most) {
		b.WriteString(text[last:loc[0]])
		b.WriteString(s.replacement(L, text, loc))
		last = loc[1]
		n++
		if b.Len() > maxString {
			L.RaiseError("regex.gsub: the result would be longer than %d MiB", maxString>>20)
		}
	}
	b.WriteString(text[last:])
	L.Push(lua.LString(b.String()))
	L.Push(lua.LNumber(n))
	return 2
}

// replacement returns the text that replaces one match; false or nil keep the match.
func (s *script) replacement(L *lua.LState, text string, loc []int) string {
	whole := text[loc[0]:loc[1]]
	group := func(i int) string {
		if 2*i+1 >= len(loc) || loc[2*i] < 0 {
			return ""
		}
		return text[loc[2*i]:loc[2*i+1]]
	}
	var v lua.LValue
	switch repl := L.Get(3).(type) {
	case lua.LString:
		return expand(string(repl), group)
	case *lua.LTable:
		key := whole
		if len(loc) > 2 {
			key = group(1)
		}
		v = repl.RawGetString(key)
	case *lua.LFunction:
		L.Push(repl)
		n := groups(L, text, loc, true)
		L.Call(n, 1)
		v = L.Get(-1)
		L.Pop(1)
	}
	if !lua.LVAsBool(v) {
		return whole
	}
	if !lua.LVCanConvToString(v) {
		L.RaiseError("invalid replacement value (a %s)", v.Type().String())
	}
	return v.String()
}

// expand inserts groups into a replacement: %0 is the match, %1 the first group, %% a percent
// sign.
func expand(repl string, group func(int) string) string {
	if !strings.Contains(repl, "%") {
		return repl
	}
	var b strings.Builder
	for i := 0; i < len(repl); i++ {
		if repl[i] != '%' || i+1 == len(repl) {
			b.WriteByte(repl[i])
			continue
		}
		i++
		if d := repl[i]; d >= '0' && d <= '9' {
			b.WriteString(group(int(d - '0')))
		} else {
			b.WriteByte(d)
		}
	}
	return b.String()
}

func jcodeTime(L *lua.LState) int {
	L.Push(lua.LNumber(float64(time.Now().UnixMicro()) / 1e6))
	return 1
}

func jcodeDate(L *lua.LState) int {
	format := L.OptString(1, "%Y-%m-%d %H:%M:%S")
	at := time.Now()
	if n, ok := L.Get(2).(lua.LNumber); ok {
		sec := int64(n)
		at = time.Unix(sec, int64((float64(n)-float64(sec))*1e9))
	}
	if rest, utc := strings.CutPrefix(format, "!"); utc {
		format, at = rest, at.UTC()
	}
	L.Push(lua.LString(strftime(format, at)))
	return 1
}

// strftime formats with the directives of C that make sense without a locale.
func strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		b.WriteString(directive(format[i], t))
	}
	return b.String()
}

func directive(c byte, t time.Time) string {
	layouts := map[byte]string{
		'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'z': "-0700", 'Z': "MST",
		'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04", 'c': "Mon Jan  2 15:04:05 2006",
		'x': "01/02/06", 'X': "15:04:05", 'e': "_2",
	}
	switch c {
	case '%':
		return "%"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	}
	if layout, ok := layouts[c]; ok {
		return t.Format(layout)
	}
	return "%" + string(c)
}
