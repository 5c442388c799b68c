package pdftext

import (
	"bytes"
	"math"
)

// file holds the objects of a PDF.
type file struct {
	data    []byte
	entries map[int]entry
	trailer dict
	crypt   *crypt
	objects map[int]any
	busy    map[int]bool
	packed  map[int][]any // the objects of object streams, by their index
	rebuilt bool
	work    work
}

// entry says where an object is.
type entry struct {
	at     int // its offset, or its index in the object stream
	within int // the number of the object stream, 0 for none
}

// open finds the objects and the key.
func (f *file) open() error {
	f.reset()
	if !f.readXrefs() || f.dict(f.trailer["Root"]) == nil {
		f.rebuild()
	}
	if err := f.unlock(); err != nil {
		return err
	}
	if f.dict(f.dict(f.trailer["Root"])["Pages"]) == nil && !f.rebuilt {
		f.rebuild()
		if err := f.unlock(); err != nil {
			return err
		}
	}
	if f.work.err != nil {
		return f.work.err
	}
	if f.dict(f.trailer["Root"]) == nil {
		return ErrNoPDF
	}
	return nil
}

func (f *file) reset() {
	f.entries, f.objects, f.busy, f.packed = map[int]entry{}, map[int]any{}, map[int]bool{}, map[int][]any{}
	f.trailer, f.crypt = dict{}, nil
}

// unlock finds the key of an encrypted file. What was read before is read again.
func (f *file) unlock() error {
	if f.crypt != nil {
		return nil
	}
	enc := f.dict(f.trailer["Encrypt"])
	if enc == nil {
		return nil
	}
	c, err := f.newCrypt(enc)
	if err != nil {
		return err
	}
	f.crypt = c
	f.objects, f.packed = map[int]any{}, map[int][]any{}
	if f.rebuilt {
		f.unpackAll()
	}
	return nil
}

// readXrefs follows the chain of cross-reference sections, the newest first.
func (f *file) readXrefs() bool {
	at := bytes.LastIndex(f.data, []byte("startxref"))
	if at < 0 {
		return false
	}
	l := &lexer{b: f.data, i: at + len("startxref")}
	first, _ := l.next(0)
	todo := []any{first}
	seen := map[int]bool{}
	for len(todo) > 0 {
		off, ok := index(todo[0], len(f.data))
		todo = todo[1:]
		if !ok {
			return false
		}
		if seen[off] {
			continue
		}
		seen[off] = true
		t := f.readXref(off)
		if t == nil || !f.work.spend(1) {
			return false
		}
		for k, v := range t {
			if _, has := f.trailer[k]; !has {
				f.trailer[k] = v
			}
		}
		for _, k := range []name{"XRefStm", "Prev"} {
			if v, has := t[k]; has {
				todo = append(todo, v)
			}
		}
	}
	return true
}

// index converts a number to an index below n.
func index(v any, n int) (int, bool) {
	x, ok := v.(float64)
	if !ok || x < 0 || x >= float64(n) {
		return 0, false
	}
	return int(x), true
}

// readXref reads one section and returns its trailer, nil if there is no section.
func (f *file) readXref(at int) dict {
	l := &lexer{b: f.data, i: at, refs: true}
	word, _ := l.next(0)
	if word == operator("xref") {
		return f.readXrefTable(l)
	}
	l.i = at
	v, _ := f.objectAt(at, -1)
	s, ok := v.(*stream)
	if !ok || s.dict["Type"] != name("XRef") || !f.readXrefStream(s) {
		return nil
	}
	return s.dict
}

func (f *file) readXrefTable(l *lexer) dict {
	for {
		v, ok := l.next(0)
		if !ok {
			return nil
		}
		if v == operator("trailer") {
			t, _ := l.next(0)
			d, _ := t.(dict)
			return d
		}
		start, ok := index(v, math.MaxInt32)
		n, _ := l.next(0)
		count, ok2 := index(n, len(f.data)/10+1)
		if !ok || !ok2 {
			return nil
		}
		for i := range count {
			off, _ := l.next(0)
			_, _ = l.next(0) // the generation
			kind, _ := l.next(0)
			if at, ok := index(off, len(f.data)); ok && kind == operator("n") && at > 0 {
				f.note(start+i, entry{at: at})
			}
		}
	}
}

func (f *file) note(num int, e entry) {
	if _, has := f.entries[num]; !has && num > 0 {
		f.entries[num] = e
	}
}

func (f *file) readXrefStream(s *stream) bool {
	var w [3]int
	widths := f.array(s.dict["W"])
	if len(widths) < 3 {
		return false
	}
	row := 0
	for i := range w {
		n, ok := index(widths[i], 9)
		if !ok {
			return false
		}
		w[i] = n
		row += n
	}
	data := f.decode(s)
	ranges := f.array(s.dict["Index"])
	if ranges == nil {
		ranges = array{0.0, s.dict["Size"]}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		start, ok := index(ranges[i], math.MaxInt32)
		count, ok2 := index(ranges[i+1], math.MaxInt32)
		if !ok || !ok2 || row == 0 {
			return false
		}
		for k := 0; k < count && len(data) >= row; k++ {
			f.noteRow(start+k, data[:row], w)
			data = data[row:]
		}
	}
	return true
}

func (f *file) noteRow(num int, row []byte, w [3]int) {
	kind := 1
	if w[0] > 0 {
		kind = bigEndian(row[:w[0]])
	}
	a, b := bigEndian(row[w[0]:w[0]+w[1]]), bigEndian(row[w[0]+w[1]:])
	switch kind {
	case 1:
		f.note(num, entry{at: a})
	case 2:
		f.note(num, entry{at: b, within: a})
	}
}

func bigEndian(b []byte) int {
	n := 0
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n & math.MaxInt
}

// get resolves a value: it returns the object of a reference, or the value itself.
func (f *file) get(v any) any {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.object(r.num)
	}
	return nil
}

func (f *file) object(num int) any {
	if v, ok := f.objects[num]; ok {
		return v
	}
	e, ok := f.entries[num]
	if !ok || f.busy[num] || len(f.busy) > 1000 || !f.work.spend(1) {
		return nil
	}
	f.busy[num] = true
	defer delete(f.busy, num)
	var v any
	if e.within > 0 {
		v = f.packedObject(e)
	} else if v, ok = f.objectAt(e.at, num); !ok && !f.rebuilt {
		f.rebuild() // the offsets are wrong
		if e, ok = f.entries[num]; ok && e.within == 0 {
			v, _ = f.objectAt(e.at, num)
		}
	}
	if f.work.err == nil {
		f.objects[num] = v
	}
	return v
}

// objectAt reads "num gen obj …" at an offset; any number if num is below 0.
func (f *file) objectAt(at, num int) (any, bool) {
	if at < 0 || at >= len(f.data) {
		return nil, false
	}
	l := &lexer{b: f.data, i: at}
	n, _ := l.next(0)
	gen, _ := l.next(0)
	word, _ := l.next(0)
	is, ok := index(n, math.MaxInt32)
	g, _ := index(gen, 1<<16)
	if !ok || word != operator("obj") || num >= 0 && is != num {
		return nil, false
	}
	l.refs = true
	v, _ := l.next(0)
	d, ok := v.(dict)
	if !ok {
		return v, true
	}
	back := l.i
	if word, _ := l.next(0); word != operator("stream") {
		l.i = back
		return d, true
	}
	return &stream{d, f.streamBytes(d, l.i), ref{is, g}}, true
}

// streamBytes finds the bytes of a stream whose keyword ends at an offset.
func (f *file) streamBytes(d dict, at int) []byte {
	if at < len(f.data) && f.data[at] == '\r' {
		at++
	}
	if at < len(f.data) && f.data[at] == '\n' {
		at++
	}
	rest := f.data[at:]
	if n, ok := index(f.get(d["Length"]), len(rest)); ok {
		if bytes.HasPrefix(bytes.TrimLeft(rest[n:min(len(rest), n+32)], "\r\n \t\x00"), []byte("endstream")) {
			return rest[:n]
		}
	}
	end := bytes.Index(rest, []byte("endstream"))
	if !f.work.spend(max(end, 0) / 16) {
		return nil
	}
	if end >= 0 {
		return bytes.TrimSuffix(bytes.TrimSuffix(rest[:end], []byte("\n")), []byte("\r"))
	}
	return rest
}

func (f *file) packedObject(e entry) any {
	list, ok := f.packed[e.within]
	if !ok {
		if in, has := f.entries[e.within]; !has || in.within > 0 {
			return nil
		}
		s, _ := f.object(e.within).(*stream)
		_, list = f.unpack(s)
		f.packed[e.within] = list
	}
	if e.at < 0 || e.at >= len(list) {
		return nil
	}
	return list[e.at]
}

// unpack reads the objects of an object stream and their numbers.
func (f *file) unpack(s *stream) (nums []int, list []any) {
	if s == nil || f.get(s.dict["Type"]) != name("ObjStm") {
		return nil, nil
	}
	data := f.decode(s)
	count, _ := index(f.get(s.dict["N"]), len(data)+1)
	first, _ := index(f.get(s.dict["First"]), len(data)+1)
	head := &lexer{b: data[:first]}
	for range count {
		num, ok := head.next(0)
		off, ok2 := head.next(0)
		if !ok || !ok2 || !f.work.spend(1) {
			break
		}
		n, _ := index(num, math.MaxInt32)
		at, ok := index(off, len(data)-first)
		var v any
		if ok {
			l := &lexer{b: data, i: first + at, refs: true}
			v, _ = l.next(0)
		}
		nums, list = append(nums, n), append(list, v)
	}
	return nums, list
}

func (f *file) dict(v any) dict {
	switch d := f.get(v).(type) {
	case dict:
		return d
	case *stream:
		return d.dict
	}
	return nil
}

func (f *file) array(v any) array {
	a, _ := f.get(v).(array)
	return a
}

func (f *file) number(v any, or float64) float64 {
	if n, ok := f.get(v).(float64); ok {
		return n
	}
	return or
}
