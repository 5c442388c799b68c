package edit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is the encoding of a file's text.
type Encoding int

// The encodings. EightBit is everything that is neither UTF-8 nor marked as UTF-16, such as
// Latin-1; its text contains the bytes unchanged.
const (
	UTF8 Encoding = iota
	UTF8BOM
	UTF16LE
	UTF16BE
	EightBit
)

const (
	bom   = "\xef\xbb\xbf"
	leBOM = "\xff\xfe"
	beBOM = "\xfe\xff"
)

// String names the encoding for people.
func (e Encoding) String() string {
	switch e {
	case UTF8:
		return "UTF-8"
	case UTF8BOM:
		return "UTF-8 with BOM"
	case UTF16LE:
		return "UTF-16 LE"
	case UTF16BE:
		return "UTF-16 BE"
	case EightBit:
	}
	return "not UTF-8 (Latin-1 or another 8-bit encoding)"
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
	case utf8.Valid(data):
		return string(data), UTF8, nil
	default:
		return string(data), EightBit, nil
	}
	text = decode16(data[2:], enc.order())
	if back, err := enc.Encode(text); err != nil || !bytes.Equal(back, data) {
		return "", enc, fmt.Errorf("the file is damaged %s: it can't be changed without changing other bytes", enc)
	}
	return text, enc, nil
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

// Insertable returns an error if text cannot be written in this encoding.
func (e Encoding) Insertable(text string) error {
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
