package keyboard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// pieces is a terminal that sends pieces with pauses between them, on a simulated clock.
type pieces struct {
	File
	t    time.Time
	left []piece
}

type piece struct {
	after time.Duration
	s     string
}

var errEmpty = errors.New("nothing more")

func (p *pieces) Fd() uintptr { return 0 }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, errEmpty
	}
	p.t = p.t.Add(p.left[0].after)
	p.left[0].after = 0
	n := copy(b, p.left[0].s)
	if p.left[0].s = p.left[0].s[n:]; p.left[0].s == "" {
		p.left = p.left[1:]
	}
	return n, nil
}

func (p *pieces) ready(_ uintptr, d time.Duration) bool {
	if len(p.left) == 0 || p.left[0].after > d {
		p.t = p.t.Add(d)
		if len(p.left) > 0 {
			p.left[0].after -= d
		}
		return false
	}
	return true
}

// read returns what a program receives, one string per read.
func read(list ...piece) []string {
	p := &pieces{t: time.Unix(0, 0), left: list}
	r := NewReader(p)
	r.ready, r.now = p.ready, func() time.Time { return p.t }
	var out []string
	for {
		b := make([]byte, 4096)
		n, err := r.Read(b)
		if n > 0 {
			out = append(out, string(b[:n]))
		}
		if err != nil {
			return out
		}
	}
}

const ms = time.Millisecond

func TestPiecesBecomeWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   []piece
		want string // joined by |
	}{
		"plain keys":                      {[]piece{{0, "a"}, {ms, "b"}}, "a|b"},
		"mouse report":                    {[]piece{{0, "\x1b[<0;10;"}, {150 * ms, "10M"}}, "\x1b[<0;10;10M"},
		"mouse report without its end":    {[]piece{{0, "x\x1b[<0;10;"}, {1500 * ms, "10M"}, {ms, "y"}}, "x|y"},
		"focus report":                    {[]piece{{0, "\x1b["}, {150 * ms, "I"}}, "\x1b[I"},
		"arrow":                           {[]piece{{0, "\x1b["}, {500 * ms, "A"}}, "\x1b[A"},
		"alt+[":                           {[]piece{{0, "\x1b["}, {3000 * ms, "x"}}, "\x1b[|x"},
		"escape alone":                    {[]piece{{0, "\x1b"}, {10 * ms, "x"}}, "\x1b|x"},
		"colour cut in its end mark":      {[]piece{{0, "\x1b]11;rgb:0000/0000/0000\x1b"}, {70 * ms, "\\"}}, "\x1b]11;rgb:0000/0000/0000\x1b\\"},
		"colour cut after its start":      {[]piece{{0, "\x1b]"}, {70 * ms, "11;rgb:0000/0000/0000\a"}}, "\x1b]11;rgb:0000/0000/0000\a"},
		"colour whose end is late":        {[]piece{{0, "a\x1b]11;rgb:0000"}, {1200 * ms, "/0000/0000\a"}, {ms, "b"}}, "a|b"},
		"colour whose end mark is late":   {[]piece{{0, "\x1b]11;rgb:0/0/0\x1b"}, {1200 * ms, "\\"}, {ms, "b"}}, "b"},
		"colour that never ends":          {[]piece{{0, "\x1b]11;rgb:00"}, {1200 * ms, "hello"}}, "hello"},
		"late, one piece":                 {[]piece{{0, "\x1b]"}, {300 * ms, "11;rgb:0/0/0\x1b\\x"}}, "\x1b]|x"},
		"mode report":                     {[]piece{{0, "\x1b[?2026;2"}, {900 * ms, "$y"}}, "\x1b[?2026;2$y"},
		"wide character":                  {[]piece{{0, "\xe6\xbc"}, {300 * ms, "\xa2"}}, "漢"},
		"ctrl+c while a report is open":   {[]piece{{0, "\x1b[<0;1"}, {100 * ms, "\x03"}}, "\x03"},
		"ctrl+c while an answer is open":  {[]piece{{0, "\x1b]11;rg"}, {100 * ms, "\x03"}}, "\x03"},
		"key while a report is open":      {[]piece{{0, "\x1b[<0;1"}, {100 * ms, "\x1b[A"}}, "\x1b[A"},
		"paste":                           {[]piece{{0, "\x1b[200~one\n"}, {900 * ms, "two\x1b[2"}, {900 * ms, "01~x"}}, "\x1b[200~one\ntwo\x1b[201~x"},
		"paste that lost its end":         {[]piece{{0, "\x1b[200~text"}, {2500 * ms, "a"}}, "\x1b[200~text\x1b[201~|a"},
		"ctrl+c in a paste without end":   {[]piece{{0, "\x1b[200~text"}, {300 * ms, "\x03"}}, "\x1b[200~text\x1b[201~\x03"},
		"kitty's ctrl+c in such a paste":  {[]piece{{0, "\x1b[200~text"}, {300 * ms, "\x1b[99;5u"}}, "\x1b[200~text\x1b[201~\x1b[99;5u"},
		"ctrl+c in one read with a paste": {[]piece{{0, "\x1b[200~text\x03"}, {900 * ms, "a"}}, "\x1b[200~text\x1b[201~\x03|a"},
		"ctrl+c in one read with a piece": {[]piece{{0, "\x1b[200~te"}, {ms, "xt\x1b[99;5u"}, {900 * ms, "a"}}, "\x1b[200~text\x1b[201~\x1b[99;5u|a"},
		"pasted ctrl+c at a read's end":   {[]piece{{0, "\x1b[200~te\x03"}, {100 * ms, "xt\x1b[201~"}}, "\x1b[200~te\x03xt\x1b[201~"},
		"paste that paused for too long":  {[]piece{{0, "\x1b[200~a\n"}, {2500 * ms, "b\n\x1b[201~"}}, "\x1b[200~a\n\x1b[201~|\x1b[200~b\n\x1b[201~"},
		"end of a paste alone, too late":  {[]piece{{0, "\x1b[200~a"}, {2500 * ms, "\x1b[201~"}, {ms, "x"}}, "\x1b[200~a\x1b[201~|x"},
		"report inside a paste":           {[]piece{{0, "\x1b[200~\x1b[<0;1"}, {100 * ms, "\x1b[201~"}}, "\x1b[200~\x1b[<0;1\x1b[201~"},
		"two pastes":                      {[]piece{{0, "\x1b[200~a\x1b[201~\x1b[200~b"}, {100 * ms, "\x1b[201~"}}, "\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~"},
		"function key that is cut":        {[]piece{{0, "\x1bO"}, {100 * ms, "P"}}, "\x1bOP"},
		"modified key between two pieces": {[]piece{{0, "a\x1b[1089"}, {200 * ms, "::99;5u"}}, "a\x1b[1089::99;5u"},
	} {
		if got := strings.Join(read(tc.in...), "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestEverySplitOfAnAnswerStaysOne(t *testing.T) {
	t.Parallel()
	for _, seq := range []string{"\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b]11;rgb:0000/0000/0000\a", "\x1b[<35;100;20M", "\x1b[?2026;2$y", "\x1bP>|tmux 3.4\x1b\\", "漢"} {
		for i := 1; i < len(seq); i++ {
			if i == 1 && seq[0] == esc {
				continue // ESC alone is a key
			}
			if got := read(piece{0, seq[:i]}, piece{150 * ms, seq[i:]}); strings.Join(got, "") != seq || len(got) != 1 {
				t.Errorf("%q cut at %d: %q", seq, i, got)
			}
		}
	}
}

func TestALongPasteKeepsEveryByte(t *testing.T) {
	t.Parallel()
	for _, size := range []int{4070, 4075, 4080, 4085, 4090, 9000, 100_000} {
		text := pasteStart + strings.Repeat("x", size) + pasteEnd
		got := strings.Join(read(piece{0, text}, piece{ms, "after"}), "")
		if got != text+"after" {
			t.Errorf("%d: %d bytes of %d, ends in %q", size, len(got), len(text), got[max(len(got)-30, 0):])
		}
		lost := strings.TrimSuffix(text, pasteEnd)
		if got = strings.Join(read(piece{0, lost}, piece{3 * time.Second, "after"}), ""); got != text+"after" {
			t.Errorf("%d without its end: %d bytes, ends in %q", size, len(got), got[max(len(got)-30, 0):])
		}
	}
}

func FuzzNothingThatIsWholeIsLost(f *testing.F) {
	f.Add("abc漢\x1b[A\x1b[200~x\x1b[201~", 3)
	f.Add("\x1b]0;x\ay", 2)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		for i := range len(s) { // text and keys only: reports of the terminal may be dropped
			if s[i] == esc {
				return
			}
		}
		cut = min(max(cut, 0), len(s))
		if got := strings.Join(read(piece{0, s[:cut]}, piece{10 * ms, s[cut:]}), ""); got != s && s != "" {
			t.Errorf("%q of %q", got, s)
		}
	})
}

func TestKeysHaveLatinNamesOnEveryLayout(t *testing.T) {
	t.Parallel()
	for want, keys := range map[string][]tea.Key{
		"ctrl+c":       {{Code: 'c', Mod: tea.ModCtrl}, {Code: 'с', Mod: tea.ModCtrl}, {Code: 'с', BaseCode: 'c', Mod: tea.ModCtrl}, {Code: 'ψ', Mod: tea.ModCtrl}, {Code: 'ב', Mod: tea.ModCtrl}, {Code: 'ㅊ', Mod: tea.ModCtrl}, {Code: 'ؤ', Mod: tea.ModCtrl}},
		"alt+b":        {{Code: 'и', Mod: tea.ModAlt}, {Code: 'И', Mod: tea.ModAlt}, {Code: 'β', Mod: tea.ModAlt}},
		"ctrl+a":       {{Code: 'a', BaseCode: 'q', Mod: tea.ModCtrl}}, // AZERTY keeps its own letters
		"ctrl+z":       {{Code: 'z', BaseCode: 'y', Mod: tea.ModCtrl}}, // QWERTZ
		"ctrl+_":       {{Code: '_', Mod: tea.ModCtrl}},
		"ctrl+2":       {{Code: 'é', BaseCode: '2', Mod: tea.ModCtrl}},
		"c":            {{Code: 'c', Text: "c"}},
		"с":            {{Code: 'с', Text: "с"}}, // typed text stays unchanged
		"enter":        {{Code: tea.KeyEnter}},
		"ctrl+shift+z": {{Code: 'я', Mod: tea.ModCtrl | tea.ModShift}},
		"space":        {{Code: ' ', Text: " "}},
	} {
		for _, k := range keys {
			if got := Name(tea.KeyPressMsg(k)); got != want {
				t.Errorf("%+v: %s, want %s", k, got, want)
			}
		}
	}
	for typed, want := range map[string]string{"н": "y", "т": "n", "Т": "N", "y": "y", "υ": "y", "é": "é"} {
		if got := Letter(tea.KeyPressMsg{Text: typed, Code: []rune(typed)[0]}); got != want {
			t.Errorf("%s: %s, want %s", typed, got, want)
		}
	}
}

func TestLayoutsHaveALatinLetterForEachOfTheirs(t *testing.T) {
	t.Parallel()
	for _, row := range rows() {
		if a, b := len([]rune(row[0])), len([]rune(row[1])); a > b {
			t.Error(fmt.Errorf("%s: %d letters, %d Latin ones", row[0], a, b))
		}
	}
}
