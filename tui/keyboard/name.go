package keyboard

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// Name returns the name of a key: what it types, or its modifiers and its letter, as in "ctrl+c". On a layout
// without Latin letters the letter is the one that the same key has on a Latin layout; a Latin layout of any
// order keeps its own letters.
func Name(k tea.KeyPressMsg) string {
	key := tea.Key(k)
	if key.Text != "" && key.Text != " " {
		return key.Text
	}
	base := key.BaseCode
	key.BaseCode = 0
	if key.Code > unicode.MaxASCII && key.Code <= unicode.MaxRune {
		switch latin, ok := Latin(key.Code); {
		case base > ' ' && base <= unicode.MaxASCII:
			key.Code = base
		case ok:
			key.Code = unicode.ToLower(latin)
		}
	}
	return key.Keystroke()
}

// Letter is Name for keys that are commands by themselves: a letter of another script is named after the
// Latin one on the same key.
func Letter(k tea.KeyPressMsg) string {
	name := Name(k)
	if r := []rune(name); len(r) == 1 {
		if latin, ok := Latin(r[0]); ok {
			return string(latin)
		}
	}
	return name
}

// rows returns keyboard layouts, row by row, above the Latin letters on the same keys. A letter that several
// layouts have at different places is taken from the first one.
func rows() [][2]string {
	const top, home, bottom = "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,."
	return [][2]string{
		{"йцукенгшщзхъ", top}, {"фывапролджэ", home}, {"ячсмитьбю", bottom}, // Russian
		{"їіє", "]s'"}, {"ў", "o"}, {"ґ", "\\"}, // Ukrainian, Belarusian
		{"љњ", "qw"}, {"ђјћ", "[j'"}, {"џ", "x"}, // Serbian
		{"ςερτυθιοπ", "wertyuiop"}, {"ασδφγηξκλ", "asdfghjkl"}, {"ζχψωβνμ", "zxcvbnm"}, // Greek
		{"קראטוןםפ", "ertyuiop"}, {"שדגכעיחלךף", "asdfghjkl;"}, {"זסבהנמצתץ", bottom}, // Hebrew
		{"ضصثقفغعهخحجد", top}, {"شسيبلاتنمكط", home}, {"ئءؤرىةوز", "zxcvnm,."}, // Arabic
		{"ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", "qwertyuiop"}, {"ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", "asdfghjkl"}, {"ㅋㅌㅊㅍㅠㅜㅡ", "zxcvbnm"}, // Korean
		{"ქწერტყუიოპ", "qwertyuiop"}, {"ასდფგჰჯკლ", "asdfghjkl"}, {"ზხცვბნმ", "zxcvbnm"}, // Georgian
	}
}

// Latin returns the Latin letter on the key that types r, in the case of r. ok is false if r is not a letter
// of a known layout.
func Latin(r rune) (latin rune, ok bool) {
	if r <= unicode.MaxASCII {
		return 0, false
	}
	lower := unicode.ToLower(r)
	for _, row := range rows() {
		at := strings.IndexRune(row[0], lower)
		if at < 0 {
			continue
		}
		n := len([]rune(row[0][:at]))
		latin = []rune(row[1])[n]
		if lower != r {
			latin = unicode.ToUpper(latin)
		}
		return latin, true
	}
	return 0, false
}
