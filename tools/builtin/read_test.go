package builtin_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/tools"
	"jcode/tools/builtin"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestReadGivesNumberedLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "a\r\nb\nc")
	res := r.ok("read", args{"file_path": "f"})
	if res.Text != "1\ta\n2\tb\n3\tc" {
		t.Errorf("got %q", res.Text)
	}
	if d := structured(t, res); d["content"] != "a\r\nb\nc" || d["size"] != 6.0 {
		t.Errorf("data %v", d)
	}
}

func TestReadSaysWhatItLeftOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	var b strings.Builder
	for i := 1; i <= 5000; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	r.put("f", b.String())
	res := r.ok("read", args{"path": "f"})
	if !strings.HasPrefix(res.Text, "[f has 5000 lines, you see 1–2000]\n1\tline 1\n") || !strings.HasSuffix(res.Text, "2000\tline 2000\n[the file continues: use offset 2001]") {
		t.Errorf("begins %q, ends %q", res.Text[:60], res.Text[len(res.Text)-60:])
	}
	res = r.ok("read", args{"path": "f", "offset": 4990, "limit": 3})
	if res.Text != "[f has 5000 lines, you see 4990–4992]\n4990\tline 4990\n4991\tline 4991\n4992\tline 4992\n[the file continues: use offset 4993]" {
		t.Errorf("got %q", res.Text)
	}
	r.put("wide", strings.Repeat(strings.Repeat("x", 1000)+"\n", 100))
	res = r.ok("read", args{"path": "wide"})
	has(t, res.Text, "wide has 100 lines", "50.0 KiB reached")
	if len(res.Text) > 52<<10 {
		t.Errorf("%d bytes", len(res.Text))
	}
	script := r.callAs(tools.Caller{Origin: tools.OriginScript}, "read", args{"path": "f"})
	if structured(t, script)["content"] != b.String() {
		t.Error("a script does not get the whole content")
	}
}

func TestReadRefusesByKind(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("d/f", "word\n")
	fifo(t, filepath.Join(r.dir, "p"))
	start := time.Now()
	r.refused("read", args{"path": "p"}, "named pipe")
	r.refused("edit", args{"path": "p", "old_string": "a", "new_string": "b"}, "named pipe")
	r.refused("write", args{"path": "p", "content": "x"}, "named pipe")
	r.refused("grep", args{"pattern": "x", "path": "p"}, "named pipe")
	if text := r.ok("grep", args{"pattern": "word"}).Text; text != "d/f:1:word" {
		t.Errorf("grep beside a pipe: %q", text)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
	r.refused("read", args{"path": "d"}, "folder", "ls")
	r.link("nowhere", "dangling")
	r.refused("read", args{"path": "dangling"}, "does not exist")
	r.put("Makefile", "")
	r.refused("read", args{"path": "makefile.am"}, "does not exist", "Makefile")
	r.refused("read", args{"path": "x/y/z"}, `there is no "x"`)
	r.put("bin", "\x7fELF\x00\x00")
	r.refused("read", args{"path": "bin"}, "binary", "exec")
	if _, err := os.Stat("/dev/zero"); err == nil {
		r.refused("read", args{"path": "/dev/zero"}, "device")
	}
}

func TestReadAtTheEdges(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("empty", "")
	has(t, r.ok("read", args{"path": "empty"}).Text, "the file is empty")
	r.put("ten", strings.Repeat("x\n", 10))
	r.refused("read", args{"path": "ten", "offset": 50}, "has 10 lines")
	if got := r.ok("read", args{"path": "ten", "limit": "20"}).Text; strings.Count(got, "\n") != 9 {
		t.Errorf("got %q", got)
	}
	r.refused("read", args{"path": "ten", "limit": 0}, "limit")
	r.refused("read", args{"path": "ten", "offset": -1}, "offset")
	r.refused("read", args{"path": ""}, "path is empty")
	r.put("bom", "\ufeffa\n")
	if got := r.ok("read", args{"path": "bom"}).Text; got != "1\ta" {
		t.Errorf("got %q", got)
	}
	r.put("latin", "caf\xe9\n")
	has(t, r.ok("read", args{"path": "latin"}).Text, ", by its bytes", "1\tcafé")
	r.put("odd", "caf\xe9\x81 \x01\x02\x03\n")
	has(t, r.ok("read", args{"path": "odd"}).Text, "Latin-1", "1\tcaf\ufffd")
}

func TestKindIsToldByContent(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	var img bytes.Buffer
	if err := jpeg.Encode(&img, image.NewGray(image.Rect(0, 0, 4, 4)), nil); err != nil {
		t.Fatal(err)
	}
	r.put("a.txt", img.String())
	r.put("b.png", "plain text\n")
	res := r.ok("read", args{"path": "a.txt"})
	if len(res.Parts) != 1 || res.Parts[0].MIME != "image/jpeg" || !bytes.Equal(res.Parts[0].Data, img.Bytes()) {
		t.Errorf("parts %+v", res.Parts)
	}
	has(t, res.Text, "image/jpeg")
	if res := r.ok("read", args{"path": "b.png"}); len(res.Parts) != 0 || res.Text != "1\tplain text" {
		t.Errorf("got %q", res.Text)
	}
}

func TestReadWindowOfALargeFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	var b strings.Builder
	const lines = 1_200_000
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(&b, "line %09d\n", i)
	}
	b.WriteString("last without end")
	r.put("log", b.String())
	for _, c := range []struct {
		offset, limit int
		first, last   string
		notes         []string
	}{
		{1, 2, "line 000000001", "line 000000002", []string{"more than 2 lines", "use offset 3"}},
		{700_000, 3, "line 000700000", "line 000700002", []string{"you see 700000–700002"}},
		{lines - 1, 10, "line 001199999", "last without end", []string{"has 1200001 lines, you see 1199999–1200001"}},
		{lines + 1, 1, "last without end", "last without end", []string{"has 1200001 lines"}},
		{524_288, 1, "line 000524288", "line 000524288", nil},
		{299_594, 3, "line 000299594", "line 000299596", nil}, // around a multiple of 4 MiB
	} {
		res := r.ok("read", args{"path": "log", "offset": c.offset, "limit": c.limit})
		has(t, res.Text, append(c.notes, fmt.Sprintf("%d\t%s", c.offset, c.first), "\t"+c.last)...)
	}
	r.refused("read", args{"path": "log", "offset": lines + 5}, "has 1200001 lines")
	r.put("log", b.String()+"\nmore\n")
	has(t, r.ok("read", args{"path": "log", "offset": lines + 2}).Text, "1200002\tmore")
	res := r.callAs(tools.Caller{Origin: tools.OriginScript}, "read", args{"path": "log"})
	if !res.Failed || !strings.Contains(res.Text, "offset and limit") {
		t.Errorf("a script got a file over the limit whole: %.80s", res.Text)
	}
}
