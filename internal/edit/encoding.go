package edit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"jcode/internal/charset"
)

// Encoding is the encoding of a file's text.
type Encoding string

// The encodings that a file shows. EightBit is text that is neither UTF-8 nor of any encoding in which it could be written
// again byte for byte; its text contains the bytes unchanged. All others are guessed by the file's bytes.
const (
	UTF8     Encoding = "UTF-8"
	UTF8BOM  Encoding = "UTF-8 with BOM"
	UTF16LE  Encoding = "UTF-16 LE"
	UTF16BE  Encoding = "UTF-16 BE"
	EightBit Encoding = "not UTF-8 (Latin-1 or another 8-bit encoding)"
)

// guess begins the name of an encoding that was guessed.
const guess = "~"

// Guessed returns the name of an encoding that was guessed.
func (e Encoding) Guessed() (name string, ok bool) { return strings.CutPrefix(string(e), guess) }

const (
	bom   = "\xef\xbb\xbf"
	leBOM = "\xff\xfe"
	beBOM = "\xfe\xff"
)

// String names the encoding for people.
func (e Encoding) String() string {
	if name, ok := e.Guessed(); ok {
		return name + ", by its bytes"
	}
	return string(e)
}

// Decode returns the text of a file without its byte order mark. UTF-16 that can't be encoded
// again byte for byte is an error that names the encoding.
func Decode(data []byte) (text string, enc Encoding, err error) {
	switch {
	case bytes.HasPrefix(data, []byte(bom)) && utf8.Valid(data):
		return string(data[len(bom):]), UTF8BOM, nil
	case bytes.HasPrefix(data, []byte(leBOM)):
		enc = UTF16LE
	case bytes.HasPrefix(data, []byte(beBOM)):
		enc = UTF16BE
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		return string(data), UTF8, nil
	default:
		if text, name, ok := charset.Exact(data); ok {
			return text, guess + Encoding(name), nil
		}
		if utf8.Valid(data) {
			return string(data), UTF8, nil
		}
		return string(data), EightBit, nil
	}
	text = decode16(data[2:], enc.order())
	if back, err := enc.Encode(text); err != nil || !bytes.Equal(back, data) {
		return "", enc, fmt.Errorf("the file is damaged %s: it can't be changed without changing other bytes", enc)
	}
	return text, enc, nil
}

// Text returns the text of other contents of a file that has this encoding.
func (e Encoding) Text(data []byte) (string, error) {
	name, guessed := e.Guessed()
	text, enc, err := Decode(data)
	if !guessed || enc == e || err != nil {
		return text, err
	}
	if text, err = charset.As(data, name); err != nil {
		return "", fmt.Errorf("text for a file that is %s: %w", e, err)
	}
	return text, nil
}

// Encode returns a file's bytes for a text, with the byte order mark of the encoding. For
// EightBit the bytes of the text are returned unchanged.
func (e Encoding) Encode(text string) ([]byte, error) {
	switch e {
	case UTF8BOM:
		return []byte(bom + strings.TrimPrefix(text, bom)), nil
	case UTF16LE, UTF16BE:
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("text for a %s file must be valid UTF-8", e)
		}
		out := make([]byte, 0, 2+2*len(text))
		out = e.order().AppendUint16(out, 0xfeff)
		for _, u := range utf16.Encode([]rune(text)) {
			out = e.order().AppendUint16(out, u)
		}
		return out, nil
	case UTF8, EightBit:
	default:
		name, _ := e.Guessed()
		out, err := charset.Encode(text, name)
		if err != nil || !utf8.ValidString(text) {
			return nil, fmt.Errorf("the file is %s: some of the text can't be written in that encoding", e)
		}
		return out, nil
	}
	return []byte(text), nil
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func (e Encoding) order() byteOrder {
	if e == UTF16BE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func decode16(data []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return string(utf16.Decode(units))
}

// Insertable returns an error if text cannot be written into a file with this encoding, which holds old. If the
// encoding is guessed and has a byte for each character, only characters that the file has are sure.
func (e Encoding) Insertable(text, old string) error {
	if name, ok := e.Guessed(); ok {
		for _, r := range text {
			if r < utf8.RuneSelf {
				continue
			}
			b, err := charset.Encode(string(r), name)
			switch {
			case err != nil || r == utf8.RuneError:
				return fmt.Errorf("the file is %s: %q can't be written in that encoding", e, r)
			case len(b) == 1 && !strings.ContainsRune(old, r):
				return fmt.Errorf("the file is %s, and it has no %q yet: only ASCII and characters that it has can be put into it without mixing encodings", e, r)
			}
		}
		return nil
	}
	if e != EightBit {
		return nil
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return fmt.Errorf("the file is %s: only ASCII text can be put into it without mixing encodings", e)
		}
	}
	return nil
}
