package host

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

func (s *script) jsonEncode(L *lua.LState) int {
	v, err := s.toWire("", L.CheckAny(1))
	if err != nil {
		return pushAll(L, lua.LNil, lua.LString(err.Error()))
	}
	text, err := wire.EncodeJSON(v, true)
	if err != nil {
		return pushAll(L, lua.LNil, lua.LString(err.Error()))
	}
	return pushAll(L, lua.LString(text))
}

func (s *script) jsonDecode(L *lua.LState) int {
	v, err := wire.DecodeJSON([]byte(L.CheckString(1)))
	if err != nil {
		return pushAll(L, lua.LNil, lua.LString(err.Error()))
	}
	nulls := lua.LVAsBool(table(L, 2).RawGetString("null"))
	if nulls && v == nil {
		return pushAll(L, s.null)
	}
	return pushAll(L, enter(s.engine, v, nulls))
}

func (s *script) jsonArray(L *lua.LState) int {
	t := table(L, 1)
	if mt, ok := t.Metatable.(*lua.LTable); ok && mt != s.arrayMT {
		L.ArgError(1, "the table has a metatable")
	}
	t.Metatable = s.arrayMT
	return pushAll(L, t)
}

// maxPatterns bounds the cache of compiled patterns.
const maxPatterns = 64

// patterns are compiled patterns by their text.
type patterns map[string]*regexp.Regexp

// compile returns the compiled form of an RE2 pattern.
func (p patterns) compile(text string) (*regexp.Regexp, error) {
	if re := p[text]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if len(p) >= maxPatterns {
		clear(p)
	}
	p[text] = re
	return re, nil
}

// pattern compiles an RE2 pattern, or pushes nil and a message.
func (s *script) pattern(L *lua.LState, text string) *regexp.Regexp {
	re, err := s.patterns.compile(text)
	if err != nil {
		pushAll(L, lua.LNil, lua.LString(err.Error()))
	}
	return re
}

// groups returns the captures of a match.
func groups(text string, loc []int) []lua.LValue {
	out := make([]lua.LValue, len(loc)/2-1)
	for i := range out {
		out[i] = lua.LNil
		if from := loc[2*i+2]; from >= 0 {
			out[i] = lua.LString(text[from:loc[2*i+3]])
		}
	}
	return out
}

// groupsOr returns the captures of a match, or the whole match if the pattern has none.
func groupsOr(text string, loc []int) []lua.LValue {
	if len(loc) == 2 {
		return []lua.LValue{lua.LString(text[loc[0]:loc[1]])}
	}
	return groups(text, loc)
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
		return pushAll(L, lua.LNil)
	}
	text = text[start-1:]
	loc := re.FindStringSubmatchIndex(text)
	if loc == nil {
		return pushAll(L, lua.LNil)
	}
	return pushAll(L, lua.LNumber(start+loc[0]), lua.LNumber(start+loc[1]-1)) + pushAll(L, groups(text, loc)...)
}

func (s *script) regexMatch(L *lua.LState) int {
	text := L.CheckString(1)
	re := s.pattern(L, L.CheckString(2))
	if re == nil {
		return 2
	}
	loc := re.FindStringSubmatchIndex(text)
	if loc == nil {
		return pushAll(L, lua.LNil)
	}
	return pushAll(L, groupsOr(text, loc)...)
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
		b.WriteString(replacement(L, text, loc))
		last = loc[1]
		n++
		if b.Len() > maxString {
			L.RaiseError("regex.gsub: the result would be longer than %d MiB", maxString>>20)
		}
	}
	b.WriteString(text[last:])
	return pushAll(L, lua.LString(b.String()), lua.LNumber(n))
}

// replacement returns the text that replaces one match; false or nil keep the match.
func replacement(L *lua.LState, text string, loc []int) string {
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
		v = firstResult(L, repl, groupsOr(text, loc)...)
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
	return percent(repl, func(c byte) string {
		if c >= '0' && c <= '9' {
			return group(int(c - '0'))
		}
		return string([]byte{c})
	})
}

// percent replaces each percent sign and the byte after it. A percent sign at the end stays.
func percent(s string, replace func(c byte) string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "%")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after == "" {
			b.WriteByte('%')
			return b.String()
		}
		b.WriteString(replace(after[0]))
		s = after[1:]
	}
}

func jcodeTime(L *lua.LState) int {
	return pushAll(L, lua.LNumber(float64(time.Now().UnixMicro())/1e6))
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
	return pushAll(L, lua.LString(percent(format, func(c byte) string { return directive(c, at) })))
}

// directive formats a time with one of the directives of C that make sense without a locale.
func directive(c byte, t time.Time) string {
	layouts := map[byte]string{
		'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan", 'z': "-0700", 'Z': "MST",
		'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'R': "15:04", 'c': "Mon Jan  2 15:04:05 2006",
		'x': "01/02/06", 'X': "15:04:05", 'e': "_2", 'j': "002", '%': "%", 'n': "\n", 't': "\t",
	}
	switch c {
	case 'w':
		return strconv.Itoa(int(t.Weekday()))
	case 's':
		return strconv.FormatInt(t.Unix(), 10)
	}
	if layout, ok := layouts[c]; ok {
		return t.Format(layout)
	}
	return "%" + string([]byte{c}) // it may be part of a character
}
