package pdftext

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
)

// decode returns the bytes of a stream, decrypted and decompressed as far as possible. Pictures
// stay compressed.
func (f *file) decode(s *stream) []byte {
	if s == nil {
		return nil
	}
	data := f.decrypted(s)
	filters, params := f.list(s.dict["Filter"], s.dict["F"]), f.list(s.dict["DecodeParms"], s.dict["DP"])
	for i, v := range filters {
		kind, _ := f.get(v).(name)
		var param dict
		if i < len(params) {
			param = f.dict(params[i])
		}
		out, ok := f.filter(kind, data, param)
		if !ok {
			return nil
		}
		data = out
		if i > maxDepth {
			return nil
		}
	}
	if !f.work.spend(len(data)) {
		return nil
	}
	return data
}

// decrypted returns the bytes of a stream, still compressed.
func (f *file) decrypted(s *stream) []byte {
	if f.crypt != nil && s.dict["Type"] != name("XRef") {
		return f.crypt.decrypt(s.raw, s.ref)
	}
	return s.raw
}

// list returns one object, or an array of them, as an array. short is the value of the short name of the key.
func (f *file) list(v, short any) array {
	if v == nil {
		v = short
	}
	switch v := f.get(v).(type) {
	case array:
		return v
	case nil:
		return nil
	default:
		return array{v}
	}
}

func (f *file) filter(kind name, data []byte, param dict) (out []byte, ok bool) {
	switch kind {
	case "FlateDecode", "Fl":
		return f.predict(f.inflate(data), param), true
	case "LZWDecode", "LZW":
		return f.predict(f.lzw(data, f.number(param["EarlyChange"], 1) != 0), param), true
	case "ASCIIHexDecode", "AHx":
		if i := bytes.IndexByte(data, '>'); i >= 0 {
			data = data[:i]
		}
		return unhex(data), true
	case "ASCII85Decode", "A85":
		return ascii85(data), true
	case "RunLengthDecode", "RL":
		return f.runs(data), true
	case "Crypt":
		return data, true
	}
	return nil, false
}

// inflate decompresses as much as possible, even of a damaged stream.
func (f *file) inflate(data []byte) []byte {
	data = bytes.TrimLeft(data, "\r\n")
	var r io.Reader
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		r = flate.NewReader(bytes.NewReader(data[min(2, len(data)):]))
	}
	var out bytes.Buffer
	for {
		n, err := io.CopyN(&out, r, 1<<20)
		if !f.work.spend(int(n)) {
			return nil
		}
		if err != nil {
			return out.Bytes() // the end, or damage: what came before counts
		}
	}
}

func (f *file) lzw(data []byte, early bool) []byte {
	var out []byte
	type code struct{ from, len int } // a stretch of out
	var table []code
	change := 0
	if early {
		change = 1
	}
	bits, have, width := 0, 0, 9
	prev := -1
	var last code
	for _, c := range data {
		bits, have = bits<<8|int(c), have+8
		if have < width {
			continue
		}
		have -= width
		v := bits >> have & (1<<width - 1)
		bits &= 1<<have - 1
		if v == 257 || len(out) > maxDecoded {
			break
		}
		if v == 256 {
			table, width, prev = table[:0], 9, -1
			continue
		}
		start := len(out)
		switch {
		case v < 256:
			out = append(out, byte(v))
		case v-258 < len(table):
			e := table[v-258]
			out = append(out, out[e.from:e.from+e.len]...)
		case prev >= 0 && v-258 == len(table):
			out = append(out, out[last.from:last.from+last.len]...)
			out = append(out, out[start])
		default:
			return out
		}
		if prev >= 0 && len(table) < 4096-258 {
			table = append(table, code{last.from, last.len + 1}) // what follows it in out is its last byte
		}
		last, prev = code{start, len(out) - start}, v
		if n := 258 + len(table) + change; n >= 1<<width && width < 12 {
			width++
		}
		if len(out)-start > 0 && !f.work.spend(len(out)-start) {
			return nil
		}
	}
	return out
}

func ascii85(data []byte) []byte {
	var out []byte
	var group [5]byte
	n := 0
	flush := func(count int) {
		v := uint32(0)
		for _, c := range group {
			v = v*85 + uint32(c)
		}
		b := [4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)} //nolint:gosec // the bytes of a number
		out = append(out, b[:count]...)
		n = 0
	}
	data, _, _ = bytes.Cut(bytes.TrimPrefix(bytes.TrimLeft(data, "\r\n \t"), []byte("<~")), []byte("~"))
	for _, c := range data {
		switch {
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case c >= '!' && c <= 'u':
			group[n] = c - '!'
			if n++; n == 5 {
				flush(4)
			}
		}
	}
	if n > 1 {
		count := n - 1
		for ; n < 5; n++ {
			group[n] = 84
		}
		flush(count)
	}
	return out
}

func (f *file) runs(data []byte) []byte {
	var out []byte
	for len(data) > 1 && data[0] != 128 {
		n := int(data[0])
		if n < 128 {
			n = min(n+1, len(data)-1)
			out = append(out, data[1:1+n]...)
			data = data[1+n:]
			continue
		}
		out = append(out, bytes.Repeat(data[1:2], 257-n)...)
		data = data[2:]
	}
	if !f.work.spend(len(out)) {
		return nil
	}
	return out
}

// predict undoes the predictors of PNG and TIFF.
func (f *file) predict(data []byte, param dict) []byte {
	kind := f.number(param["Predictor"], 1)
	if kind < 2 {
		return data
	}
	colors, bits := int(f.number(param["Colors"], 1)), int(f.number(param["BitsPerComponent"], 8))
	columns := int(f.number(param["Columns"], 1))
	if colors < 1 || colors > 64 || bits < 1 || bits > 32 || columns < 1 || columns > 1<<24 {
		return nil
	}
	step, row := (colors*bits+7)/8, (colors*bits*columns+7)/8
	if kind == 2 {
		for at := 0; at+row <= len(data) && bits == 8; at += row {
			for i := at + step; i < at+row; i++ {
				data[i] += data[i-step]
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	above := make([]byte, row)
	for len(data) > 1 {
		how := data[0]
		line := bytes.Clone(data[1:min(1+row, len(data))])
		data = data[1+len(line):]
		for i := range line {
			var left, corner byte
			if i >= step {
				left, corner = line[i-step], above[i-step]
			}
			line[i] += guess(how, left, above[i], corner)
		}
		out = append(out, line...)
		copy(above, line)
	}
	return out
}

// guess returns the prediction of a byte in a row of PNG, from its neighbours.
func guess(how, left, up, corner byte) byte {
	switch how {
	case 1:
		return left
	case 2:
		return up
	case 3:
		return byte((int(left) + int(up)) / 2) //nolint:gosec // the mean of two bytes
	case 4:
		p := int(left) + int(up) - int(corner)
		a, b, c := abs(p-int(left)), abs(p-int(up)), abs(p-int(corner))
		if a <= b && a <= c {
			return left
		}
		if b <= c {
			return up
		}
		return corner
	}
	return 0
}

func abs(n int) int { return max(n, -n) }
