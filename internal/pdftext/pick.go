package pdftext

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Pick returns a PDF with only the pages from first to last. It is not encrypted. Links, outlines
// and the tree of fields are left out; text in fields stays.
func (d *Document) Pick(ctx context.Context, first, last int) (data []byte, err error) {
	if first < 1 || last > len(d.pages) || first > last {
		return nil, fmt.Errorf("there are no pages %d to %d: the PDF has %d", first, last, len(d.pages))
	}
	defer recovered(&err)
	d.file.work = work{ctx: ctx, left: maxDecoded}
	w := &writer{file: d.file, nums: map[int]int{}}
	w.b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	catalog, tree := w.number(), w.number()
	var kids array
	for _, p := range d.pages[first-1 : last] {
		pg := maps.Clone(p.inherited)
		maps.Copy(pg, p.dict)
		for _, k := range []name{"StructParents", "B", "AA", "Metadata", "PieceInfo", "Thumb"} {
			delete(pg, k)
		}
		pg["Type"], pg["Parent"] = name("Page"), written(tree)
		n := w.number()
		w.object(n, pg)
		kids = append(kids, written(n))
	}
	w.object(tree, dict{"Type": name("Pages"), "Count": float64(len(kids)), "Kids": kids})
	root := dict{"Type": name("Catalog"), "Pages": written(tree)}
	if layers, has := d.file.dict(d.file.trailer["Root"])["OCProperties"]; has {
		root["OCProperties"] = layers
	}
	w.object(catalog, root)
	for len(w.todo) > 0 && d.file.work.spend(operatorCost) {
		next := w.todo[0]
		w.todo = w.todo[1:]
		w.object(w.nums[next], d.file.object(next))
	}
	w.end(catalog)
	return w.b.Bytes(), d.file.work.err
}

// written is a reference to an object of the new file.
type written int

// writer writes a new file. Objects of the old one are written when something refers to them.
type writer struct {
	file *file
	b    bytes.Buffer
	at   []int       // offsets of the objects, the first is number 1
	nums map[int]int // the new number of an old object, 0 for one that is left out
	todo []int
}

func (w *writer) number() int {
	w.at = append(w.at, 0)
	return len(w.at)
}

func (w *writer) object(num int, v any) {
	w.at[num-1] = w.b.Len()
	fmt.Fprintf(&w.b, "%d 0 obj\n", num)
	w.value(v, 0)
	w.b.WriteString("\nendobj\n")
}

// refer returns the new number of an old object. Pages and their parents are left out: the
// selected pages are written separately.
func (w *writer) refer(old int) int {
	n, known := w.nums[old]
	if known {
		return n
	}
	v := w.file.object(old)
	d := w.file.dict(v)
	if kind, _ := d["Type"].(name); v != nil && kind != "Page" && kind != "Pages" && kind != "Catalog" {
		n = w.number()
		w.todo = append(w.todo, old)
	}
	w.nums[old] = n
	return n
}

func (w *writer) value(v any, depth int) {
	if depth > 2*maxDepth || !w.file.work.spend(1) {
		v = nil
	}
	switch v := v.(type) {
	case nil, operator:
		w.b.WriteString("null")
	case bool:
		fmt.Fprint(&w.b, v)
	case float64:
		w.b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	case name:
		w.name(v)
	case string:
		fmt.Fprintf(&w.b, "<%x>", v)
	case written:
		fmt.Fprintf(&w.b, "%d 0 R", v)
	case ref:
		if n := w.refer(v.num); n > 0 {
			fmt.Fprintf(&w.b, "%d 0 R", n)
		} else {
			w.b.WriteString("null")
		}
	case array:
		w.b.WriteByte('[')
		for _, x := range v {
			w.value(x, depth+1)
			w.b.WriteByte(' ')
		}
		w.b.WriteByte(']')
	case dict:
		w.dict(v, depth)
	case *stream:
		data := w.file.decrypted(v)
		d := maps.Clone(v.dict)
		d["Length"] = float64(len(data))
		w.dict(d, depth)
		w.b.WriteString("\nstream\n")
		w.b.Write(data)
		w.b.WriteString("\nendstream")
	}
}

func (w *writer) dict(d dict, depth int) {
	_, placed := d["Rect"]
	_, kind := d["Subtype"]
	note := placed && kind // an annotation: what it leads to is left out
	w.b.WriteString("<<")
	for _, k := range slices.Sorted(maps.Keys(d)) {
		if note && slices.Contains([]name{"Parent", "P", "A", "AA", "Dest", "Popup", "StructParent", "IRT"}, k) {
			continue
		}
		w.name(k)
		w.b.WriteByte(' ')
		w.value(d[k], depth+1)
	}
	w.b.WriteString(">>")
}

func (w *writer) name(n name) {
	w.b.WriteByte('/')
	for i := range len(n) {
		if c := n[i]; c <= ' ' || c > '~' || c == '#' || delimiter(c) {
			fmt.Fprintf(&w.b, "#%02x", c)
		} else {
			w.b.WriteByte(c)
		}
	}
}

func (w *writer) end(catalog int) {
	table := w.b.Len()
	fmt.Fprintf(&w.b, "xref\n0 %d\n0000000000 65535 f \n", len(w.at)+1)
	for _, at := range w.at {
		fmt.Fprintf(&w.b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&w.b, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(w.at)+1, catalog, table)
}
