// Package charset reads text of any encoding: by its byte order mark, as UTF-8, else as what it most likely is.
//
// It must not know where the text comes from.
package charset

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// The names of what Decode returns without a guess.
const (
	UTF8   = "UTF-8"
	Binary = "binary"
)

// sample is how much of a text a guess looks at.
const sample = 64 << 10

// Decode returns a text as UTF-8, without a byte order mark, and the name of its encoding: UTF8, the name of the one that
// it is marked as, or of the one that it most likely has. Data that is no text has the name Binary.
func Decode(data []byte) (text, name string) {
	if text, name := marked(data); name != "" {
		return text, name
	}
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return string(data), UTF8
	}
	if e, name := wide(data); e != nil {
		return with(e, data), name
	}
	switch {
	case bytes.IndexByte(data, 0) >= 0 || !printable(data):
		return "", Binary
	case damaged(data):
		return strings.ToValidUTF8(string(data), "\ufffd"), UTF8
	}
	e, name := guess(data)
	return with(e, data), name
}

// Named decodes a text whose encoding somebody named, as HTML does. ok is false for a name that nobody knows.
func Named(data []byte, name string) (text string, ok bool) {
	if e, err := htmlindex.Get(name); err == nil {
		return with(e, data), true
	}
	return "", false
}

// marked decodes a text that begins with a byte order mark.
func marked(data []byte) (text, name string) {
	for _, m := range []struct {
		mark, name string
		encoding   encoding.Encoding
	}{
		{"\xef\xbb\xbf", UTF8, encoding.Replacement},
		{"\xff\xfe\x00\x00", "UTF-32 LE", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{"\x00\x00\xfe\xff", "UTF-32 BE", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
		{"\xff\xfe", "UTF-16 LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"\xfe\xff", "UTF-16 BE", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	} {
		body, ok := bytes.CutPrefix(data, []byte(m.mark))
		switch {
		case !ok:
		case m.name == UTF8 && (bytes.IndexByte(body, 0) >= 0 || !utf8.Valid(body) && !damaged(body)):
			return "", Binary
		case m.name == UTF8:
			return strings.ToValidUTF8(string(body), "\ufffd"), UTF8
		default:
			return with(m.encoding, body), m.name
		}
	}
	return "", ""
}

func with(e encoding.Encoding, data []byte) string {
	out, err := e.NewDecoder().Bytes(data)
	if err != nil { // decoders replace what is wrong; only an unfinished end is an error
		out = append(out, "\ufffd"...)
	}
	return strings.TrimPrefix(string(out), "\ufeff")
}

// wide recognizes UTF-16 without a byte order mark: every second byte is mostly zero, as in all text with blanks, digits
// and Latin letters, or what comes out are only letters, blanks and signs.
func wide(data []byte) (encoding.Encoding, string) {
	head := data[:min(len(data), sample)&^1]
	if len(data)%2 != 0 || len(head) < 4 {
		return nil, ""
	}
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i%2]++
		}
	}
	if zero[0] == 0 && zero[1] == 0 {
		return nil, ""
	}
	little, name := unicode.LittleEndian, "UTF-16 LE"
	if zero[0] > zero[1] {
		little, name = unicode.BigEndian, "UTF-16 BE"
	}
	e := unicode.UTF16(little, unicode.IgnoreBOM)
	out := with(e, head)
	if !printable([]byte(out)) || strings.Contains(out, "\x00") || strings.Count(out, "\ufffd") > 1 {
		return nil, ""
	}
	return e, name
}

// printable reports whether data holds hardly any control characters but those of texts.
func printable(data []byte) bool {
	head := data[:min(len(data), sample)]
	odd := 0
	for _, b := range head {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b && b != '\b' || b == 0x7f {
			odd++
		}
	}
	return odd*100 <= len(head)
}

// damaged reports whether data is UTF-8 of which a few bytes are broken: of what is not ASCII, most is UTF-8.
func damaged(data []byte) bool {
	good, bad := 0, 0
	for b := data; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good += n
		}
		b = b[n:]
	}
	return good > 4*bad
}

// guess returns the most likely encoding of a text that is not UTF-8.
func guess(data []byte) (encoding.Encoding, string) {
	found, err := chardet.NewTextDetector().DetectAll(data[:min(len(data), sample)])
	if err == nil {
		for _, f := range found {
			if f.Confidence < 10 || strings.HasPrefix(f.Charset, "UTF-") {
				continue
			}
			if e, err := htmlindex.Get(f.Charset); err == nil {
				return e, f.Charset
			}
		}
	}
	e, err := htmlindex.Get("windows-1252")
	if err != nil {
		return encoding.Nop, "windows-1252" // it is there
	}
	return e, "windows-1252"
}

// Exact is Decode for a text that shall be written again: ok is false unless it is of an encoding that nothing names and
// Encode gives the same bytes.
func Exact(data []byte) (text, name string, ok bool) {
	if marked, name := marked(data); name != "" {
		return marked, name, false
	}
	text, name = Decode(data)
	if name == UTF8 || name == Binary || strings.HasPrefix(name, "ISO-2022") {
		return "", name, false // in the latter, what one character is depends on those before it
	}
	back, err := Encode(text, name)
	return text, name, err == nil && bytes.Equal(back, data)
}

// As decodes a text in an encoding that Decode has named. What is not of that encoding is an error.
func As(data []byte, name string) (string, error) {
	e, err := byName(name)
	if err != nil {
		return "", err
	}
	text := with(e, data)
	back, err := Encode(text, name)
	if err != nil || !bytes.Equal(back, data) {
		return "", fmt.Errorf("it is not %s", name)
	}
	return text, nil
}

// Encode writes a text in an encoding that Decode has named, without a byte order mark. A character that the encoding
// does not have is an error.
func Encode(text, name string) ([]byte, error) {
	e, err := byName(name)
	if err != nil {
		return nil, err
	}
	return e.NewEncoder().Bytes([]byte(text))
}

func byName(name string) (encoding.Encoding, error) {
	switch name {
	case UTF8:
		return encoding.Nop, nil
	case "UTF-16 LE":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case "UTF-16 BE":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	}
	return htmlindex.Get(name)
}
