package builtin_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// pdf returns a PDF with one line per page.
func pdf(pages int) string {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Type /Pages /Resources << /Font << /F 3 0 R >> >> /Kids [")
	for i := range pages {
		fmt.Fprintf(&b, "%d 0 R ", 10+2*i)
	}
	b.WriteString("] >> endobj\n3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n")
	for i := range pages {
		line := fmt.Sprintf("BT /F 10 Tf (Line of page %d.) Tj ET", i+1)
		fmt.Fprintf(&b, "%d 0 obj << /Type /Page /Parent 2 0 R /Contents %d 0 R >> endobj\n%d 0 obj << /Length %d >> stream\n%s\nendstream endobj\n", 10+2*i, 11+2*i, 11+2*i, len(line), line)
	}
	b.WriteString("trailer << /Root 1 0 R >>\n")
	return b.String()
}

func TestReadOfAPDFAttachesPagesWithTheirText(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("three.pdf", pdf(3))
	r.put("long.pdf", pdf(130))
	res := r.ok("read", args{"path": "three.pdf"})
	if len(res.Parts) != 1 || res.Parts[0].MIME != "application/pdf" || string(res.Parts[0].Data) != pdf(3) || !strings.Contains(res.Parts[0].Text, "--- page 3 ---\nLine of page 3.") {
		t.Fatalf("%q %+v", res.Text, res.Parts)
	}
	has(t, res.Text, "three.pdf is a PDF of 3 pages")
	res = r.ok("read", args{"path": "long.pdf"})
	has(t, res.Text, "130 pages", "here are pages 1 to 20", `pages "21-40" is the next part`)
	if p := res.Parts[0]; strings.Contains(p.Text, "page 21.") || !strings.Contains(p.Text, "page 20.") || bytes.Contains(p.Data, []byte("page 21.")) || !bytes.Contains(p.Data, []byte("page 20.")) {
		t.Errorf("%q", p.Text)
	}
	if p := r.ok("read", args{"path": "long.pdf", "pages": "129-140"}).Parts[0]; p.Text != "--- page 129 ---\nLine of page 129.\n--- page 130 ---\nLine of page 130." {
		t.Errorf("%q", p.Text)
	}
	if p := r.ok("read", args{"path": "long.pdf", "pages": "7"}).Parts[0]; p.Text != "--- page 7 ---\nLine of page 7." {
		t.Errorf("%q", p.Text)
	}
	has(t, r.ok("read", args{"path": "three.pdf", "offset": 5}).Text, "offset and limit are for lines")
	for _, origin := range []tools.Origin{tools.OriginScript, tools.OriginClient} {
		res = r.callAs(tools.Caller{Origin: origin}, "read", args{"path": "three.pdf", "pages": "2-"})
		if len(res.Parts) != 0 || !strings.Contains(res.Text, "Line of page 2.") || structured(t, res)["pages"] != 3.0 {
			t.Errorf("%s: %+v", origin, res)
		}
	}
	if whole := structured(t, r.callAs(tools.Caller{Origin: tools.OriginScript}, "read", args{"path": "three.pdf"})); whole["content"] != pdf(3) {
		t.Error("a script does not get the bytes")
	}
}

func TestWhatCannotBeReadOfAPDFIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("three.pdf", pdf(3))
	r.put("none.pdf", "%PDF-1.4\nnothing")
	r.put("scan.pdf", strings.ReplaceAll(pdf(1), "(Line of page 1.)", "()              "))
	r.put("text", "a\n")
	for pages, want := range map[string]string{"0": "from 1 on", "x": "from 1 on", "5-2": "from 1 on", "4": "3 pages: there is no page 4", "1-": ""} {
		if want == "" {
			r.ok("read", args{"path": "three.pdf", "pages": pages})
			continue
		}
		r.refused("read", args{"path": "three.pdf", "pages": pages}, want)
	}
	r.put("long.pdf", pdf(130))
	r.refused("read", args{"path": "long.pdf", "pages": "1-101"}, "at most 100 pages")
	r.refused("read", args{"path": "none.pdf"}, "damaged", "qpdf")
	r.refused("read", args{"path": "text", "pages": "1"}, "is not a PDF")
	if p := r.ok("read", args{"path": "scan.pdf"}).Parts[0]; !strings.Contains(p.Text, "hold no text") {
		t.Errorf("%q", p.Text)
	}
	locked, err := os.ReadFile(filepath.Join("..", "..", "internal", "pdftext", "testdata", "password.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	r.put("locked.pdf", string(locked))
	r.refused("read", args{"path": "locked.pdf"}, "encrypted with a password", "qpdf --decrypt")
	path := filepath.Join(r.dir, "huge.pdf")
	r.put("huge.pdf", pdf(1))
	if err := os.Truncate(path, 65<<20); err != nil {
		t.Fatal(err)
	}
	r.refused("read", args{"path": "huge.pdf"}, "more than the 64.0 MiB")
}
