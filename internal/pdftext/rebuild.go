package pdftext

import (
	"bytes"
	"maps"
	"slices"
)

// rebuild finds objects by scanning the whole file, if its cross-reference table is missing or
// wrong. Of several objects with the same number the last one is used.
func (f *file) rebuild() {
	f.rebuilt = true
	f.reset()
	for at := 0; ; {
		i := bytes.Index(f.data[at:], []byte("obj"))
		if i < 0 || !f.work.spend(1) {
			break
		}
		i += at
		at = i + len("obj")
		if num, from, ok := f.header(i); ok {
			f.entries[num] = entry{at: from}
		}
	}
	for at := 0; ; {
		i := bytes.Index(f.data[at:], []byte("trailer"))
		if i < 0 || !f.work.spend(1) {
			break
		}
		at += i + len("trailer")
		l := &lexer{b: f.data, i: at, refs: true}
		v, _ := l.next(0)
		f.trust(v)
	}
	f.unpackAll()
}

// header reads backwards the "num gen " before the keyword obj.
func (f *file) header(i int) (num, from int, ok bool) {
	if i > 0 && !blank(f.data[i-1]) {
		return 0, 0, false
	}
	_, i, ok = f.backward(i)
	if !ok || i == 0 || !blank(f.data[i-1]) {
		return 0, 0, false
	}
	return f.backward(i)
}

// backward reads the digits that end before i, ignoring spaces.
func (f *file) backward(i int) (n, from int, ok bool) {
	for i > 0 && blank(f.data[i-1]) {
		i--
	}
	end := i
	for i > 0 && end-i < 10 && f.data[i-1] >= '0' && f.data[i-1] <= '9' {
		i--
	}
	v, ok := number(f.data[i:end])
	return int(v), i, ok
}

// trust copies a trailer's entries; the last trailer that has an entry decides.
func (f *file) trust(v any) {
	var d dict
	switch t := v.(type) {
	case dict:
		d = t
	case *stream:
		d = t.dict
	}
	for _, k := range []name{"Root", "Encrypt", "ID"} {
		if v, has := d[k]; has {
			f.trailer[k] = v
		}
	}
}

// unpackAll notes what is in object streams, and takes trailers from cross-reference
// streams. A file without any trailer is opened by its catalogue.
func (f *file) unpackAll() {
	nums := slices.SortedFunc(maps.Keys(f.entries), func(a, b int) int { return f.entries[a].at - f.entries[b].at })
	for _, num := range nums {
		if f.entries[num].within > 0 || f.work.err != nil {
			continue
		}
		switch v := f.object(num).(type) {
		case *stream:
			if v.dict["Type"] == name("XRef") {
				f.trust(v)
			}
			within, list := f.unpack(v)
			if len(within) > 0 {
				f.packed[num] = list
			}
			for i, n := range within {
				f.note(n, entry{at: i, within: num})
			}
		case dict:
			if v["Type"] == name("Catalog") && f.trailer["Root"] == nil {
				f.trailer["Root"] = ref{num: num}
			}
		}
	}
	if f.trailer["Root"] == nil {
		for num, e := range f.entries {
			if d := f.dict(ref{num: num}); e.within > 0 && d["Type"] == name("Catalog") {
				f.trailer["Root"] = ref{num: num}
			}
		}
	}
}

// page is a page with what it inherits.
type page struct {
	dict
	inherited dict
}

// pageList walks the tree of pages.
func (f *file) pageList() ([]page, error) {
	var out []page
	seen := map[ref]bool{}
	var walk func(v any, inherited dict, depth int)
	walk = func(v any, inherited dict, depth int) {
		if r, ok := v.(ref); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		d := f.dict(v)
		if d == nil || depth > maxDepth || len(out) >= maxPages || !f.work.spend(1) {
			return
		}
		inherited = maps.Clone(inherited)
		for _, k := range []name{"Resources", "MediaBox", "CropBox", "Rotate"} {
			if r, has := d[k]; has {
				inherited[k] = r
			}
		}
		kids := f.array(d["Kids"])
		if kids == nil {
			out = append(out, page{d, inherited})
			return
		}
		for _, k := range kids {
			walk(k, inherited, depth+1)
		}
	}
	walk(f.dict(f.trailer["Root"])["Pages"], dict{}, 0)
	return out, f.work.err
}
