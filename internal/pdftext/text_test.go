package pdftext_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/pdftext"
)

// pagesOf returns the text of each page; with an error, of those before the page that failed.
func pagesOf(ctx context.Context, r io.ReaderAt, size int64) ([]string, error) {
	d, err := pdftext.Open(ctx, r, size)
	if err != nil {
		return nil, err
	}
	pages := make([]string, 0, d.Pages())
	for n := 1; n <= d.Pages(); n++ {
		s, err := d.Page(ctx, n)
		if err != nil {
			return pages, err
		}
		pages = append(pages, s)
	}
	return pages, nil
}

// build returns a PDF of objects; the first has number 1 and is the catalogue.
func build(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.Bytes()
}

func streamOf(dict, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

// onePage returns a PDF with one page of a content, the font F (Latin) and further fonts.
func onePage(content string, more ...string) []byte {
	return build(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F 5 0 R /G 6 0 R >> /XObject << /X 6 0 R >> >> >>",
		streamOf("", content),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}, more...)...)
}

func textOf(t *testing.T, data []byte) ([]string, error) {
	t.Helper()
	return pagesOf(t.Context(), bytes.NewReader(data), int64(len(data)))
}

func TestWhatAPageShowsIsItsText(t *testing.T) {
	t.Parallel()
	deflated := func(s string) string {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	toUnicode := streamOf("", "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0001> <00480069> endbfchar 2 beginbfrange <0010> <0012> <0430> <0020> <0021> [<4E2D> <6587>] endbfrange")
	for _, c := range []struct {
		about, content, want string
		more                 []string
	}{
		{about: "lines", content: "BT /F 10 Tf 0 700 Td (One) Tj 0 -12 Td (two) Tj ET", want: "One\ntwo"},
		{about: "a paragraph", content: "BT /F 10 Tf 0 700 Td (One) Tj 0 -30 Td (two) Tj ET", want: "One\n\ntwo"},
		{about: "kerning is no space, a gap is one", content: "BT /F 10 Tf [(W) 80 (ord) -400 (two)] TJ ET", want: "Word two"},
		{about: "a gap that is space between two characters", content: "BT /F 10 Tf (l) Tj 2.5 Tc 2.22 0 Td (,p) Tj 0 Tc 10.84 0 Td (rint) Tj ET", want: "l, print"},
		{about: "a font whose widths the document does not say", content: "BT /F 10 Tf (illi) Tj 11.4 0 Td (w) Tj ET", want: "illi w"},
		{about: "a word that is spaced out", content: "BT /F 10 Tf 3 Tc (HEAD) Tj ET", want: "HEAD"},
		{about: "a blank that moves the next character only a little", content: "BT /F 10 Tf -2.5 Tw (PA T) Tj 0 Tw (TERN) Tj ET", want: "PATTERN"},
		{about: "columns of a table", content: "BT /F 10 Tf 1 0 0 1 0 9 Tm (a) Tj 1 0 0 1 90 9 Tm (b) Tj ET", want: "a  b"},
		{about: "escapes", content: `BT /F 10 Tf (a\(b\)\\ \101\
c) Tj <64 65> Tj ET`, want: `a(b)\ Acde`},
		{about: "Latin letters", content: "BT /F 10 Tf (na\xefve caf\xe9 \x80) Tj ET", want: "naïve café €"},
		{about: "lines with quotes", content: "BT /F 10 Tf 12 TL 0 700 Td (a) Tj (b) ' 1 1 (c) \" T* (d) Tj ET", want: "a\nb\nc\nd"},
		{about: "text that is drawn twice to be bold", content: "BT /F 10 Tf 1 0 0 1 0 0 Tm (bold) Tj 1 0 0 1 0.3 0 Tm (bold) Tj ET", want: "bold"},
		{about: "a picture within the content", content: "BI /W 1 /H 1 ID \x00(\xff Tj EI BT /F 10 Tf (after) Tj ET", want: "after"},
		{about: "what glyphs read as", content: "BT /F 10 Tf /Span << /ActualText (whole) >> BDC (w) Tj (h) Tj EMC ( rest) Tj ET", want: "whole rest"},
		{
			about: "a font of two bytes", content: "BT /G 10 Tf <0001 0010 0011 0012 0020 0021> Tj ET", want: "Hiабв中文",
			more: []string{"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 7 0 R /DescendantFonts [<< /DW 500 /W [1 [400 500] 16 18 600] >>] >>", toUnicode},
		},
		{
			about: "names of glyphs", content: "BT /G 10 Tf (abcdefg) Tj ET", want: "fiÅčЖA→←",
			more: []string{"<< /Type /Font /Subtype /Type1 /Encoding << /Differences [97 /fi /Aring /ccaron /uni0416 /A.sc /arrowright 103 /arrowleft] >> >>"},
		},
		{about: "a Chinese encoding", content: "BT /G 10 Tf <D6D0CEC4> Tj ET", want: "中文", more: []string{"<< /Type /Font /Subtype /Type0 /Encoding /GBK-EUC-H /DescendantFonts [<< >>] >>"}},
		{about: "a form", content: "/X Do", want: "inner", more: []string{streamOf("/Subtype /Form /Resources << /Font << /F 5 0 R >> >>", "BT /F 9 Tf (inner) Tj ET")}},
		{about: "a form that shows itself", content: "/X Do", want: "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx", more: []string{streamOf("/Subtype /Form /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >>", "1 0 0 1 0 -15 cm BT /F 9 Tf (x) Tj ET /X Do")}},
		{
			about: "a form that is packed twice", content: "/X Do", want: "inner",
			more: []string{streamOf("/Subtype /Form /Filter [/AHx /FlateDecode] /Resources << /Font << /F 5 0 R >> >>", fmt.Sprintf("%x>", deflated("BT /F 9 Tf (inner) Tj ET")))},
		},
		{
			about: "base 85", content: "/X Do", want: "inner text",
			more: []string{streamOf("/Subtype /Form /Filter /ASCII85Decode /Resources << /Font << /F 5 0 R >> >>", base85("BT /F 9 Tf (inner text) Tj ET"))},
		},
		{about: "runs", content: "/X Do", want: "aaaa", more: []string{streamOf("/Subtype /Form /Filter /RunLengthDecode /Resources << /Font << /F 5 0 R >> >>", "\x0bBT /F 9 Tf (\xfda\x06) Tj ET\x80")}},
		{
			about: "the older packing", content: "/X Do", want: "packed",
			more: []string{streamOf("/Subtype /Form /Filter /LZWDecode /Resources << /Font << /F 5 0 R >> >>", lzw("BT /F 9 Tf (packed) Tj ET"))},
		},
		{about: "no text", content: "0 0 10 10 re f", want: ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			got, err := textOf(t, onePage(c.content, c.more...))
			if err != nil || len(got) != 1 || got[0] != c.want {
				t.Fatalf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func base85(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := min(4, len(s))
		var group [4]byte
		copy(group[:], s)
		v := uint32(group[0])<<24 | uint32(group[1])<<16 | uint32(group[2])<<8 | uint32(group[3])
		var out [5]byte
		for i := 4; i >= 0; i-- {
			out[i] = byte(v%85) + '!'
			v /= 85
		}
		b.Write(out[:n+1])
		s = s[n:]
	}
	return b.String() + "~>"
}

// lzw packs a short text without references to earlier text.
func lzw(s string) string {
	var out []byte
	bits, have := 0, 0
	put := func(code int) {
		bits, have = bits<<9|code, have+9
		for ; have >= 8; have -= 8 {
			out = append(out, byte(bits>>(have-8)))
		}
	}
	put(256)
	for i := range len(s) {
		put(int(s[i]))
	}
	put(257)
	put(0)
	return string(out)
}

func TestDamagedFilesAreReadAsFarAsTheyCanBe(t *testing.T) {
	t.Parallel()
	whole := onePage("BT /F 10 Tf (still here) Tj ET")
	for about, data := range map[string][]byte{
		"no cross-reference":                  whole[:bytes.Index(whole, []byte("xref\n"))],
		"a wrong offset":                      bytes.Replace(whole, []byte("startxref\n"), []byte("startxref\n9"), 1),
		"offsets that are moved":              append([]byte("\n\nHTTP header\n\n"), bytes.Replace(whole, []byte("%PDF-1.7\n"), []byte("%PDF-1.7\n%%% more\n"), 1)...),
		"a wrong length":                      bytes.Replace(whole, []byte("/Length 30"), []byte("/Length 99"), 1),
		"a previous section that is this one": bytes.Replace(whole, []byte("/Root 1 0 R"), fmt.Appendf(nil, "/Root 1 0 R /Prev %d", bytes.Index(whole, []byte("xref\n"))), 1),
	} {
		got, err := textOf(t, data)
		if err != nil || len(got) != 1 || got[0] != "still here" {
			t.Errorf("%s: %q, %v", about, got, err)
		}
	}
}

func TestEncryptedFilesOpenWithoutAPasswordOrSaySo(t *testing.T) {
	t.Parallel()
	list, err := filepath.Glob("testdata/*.pdf")
	if err != nil || len(list) < 6 {
		t.Fatalf("%v %v", list, err)
	}
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := textOf(t, data)
		if strings.Contains(path, "password") {
			if !errors.Is(err, pdftext.ErrPassword) {
				t.Errorf("%s: %q, %v", path, got, err)
			}
			continue
		}
		if err != nil || len(got) != 1 || got[0] != "Sealed text" {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestPickedPagesReadAsBefore(t *testing.T) {
	t.Parallel()
	many := build(
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R 4 0 R 5 0 R] /MediaBox [0 0 200 200] /Resources << /Font << /F#20x 9 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents 6 0 R >>", "<< /Type /Page /Parent 2 0 R /Contents 7 0 R /Annots [<< /Subtype /Link /Rect [0 0 9 9] /Dest [3 0 R /Fit] >>] >>", "<< /Type /Page /Parent 2 0 R /Contents 8 0 R >>",
		streamOf("", "BT /F#20x 10 Tf (one) Tj ET"), streamOf("", "BT /F#20x 10 Tf (two) Tj ET"), streamOf("", "BT /F#20x 10 Tf (three) Tj ET"),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	)
	sealed, err := os.ReadFile("testdata/aes-256.pdf")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data        []byte
		first, last int
		want        string
	}{{many, 1, 3, "one|two|three"}, {many, 2, 2, "two"}, {many, 2, 3, "two|three"}, {sealed, 1, 1, "Sealed text"}} {
		d, err := pdftext.Open(t.Context(), bytes.NewReader(c.data), int64(len(c.data)))
		if err != nil {
			t.Fatal(err)
		}
		picked, err := d.Pick(t.Context(), c.first, c.last)
		if err != nil {
			t.Fatal(err)
		}
		got, err := textOf(t, picked)
		if err != nil || strings.Join(got, "|") != c.want || bytes.Contains(picked, []byte("/Encrypt")) {
			t.Errorf("%d to %d: %q, %v\n%s", c.first, c.last, got, err, picked)
		}
		if c.last-c.first < 2 && bytes.Contains(picked, []byte("(one)")) {
			t.Errorf("a page that was not chosen is there:\n%s", picked)
		}
		if _, err := d.Pick(t.Context(), 0, 1); err == nil {
			t.Error("page 0 was picked")
		}
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	for about, c := range map[string]struct {
		data []byte
		want error
	}{
		"text":       {[]byte("hello"), pdftext.ErrNoPDF},
		"empty":      {nil, pdftext.ErrNoPDF},
		"head alone": {[]byte("%PDF-1.4\n"), pdftext.ErrNoPDF},
		"a bomb":     {nil, pdftext.ErrLimit},
	} {
		if about == "a bomb" {
			if testing.Short() {
				continue // it unpacks 100 MB
			}
			c.data = bomb(t)
		}
		if got, err := textOf(t, c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v", about, got, err)
		}
	}
	if _, err := pagesOf(t.Context(), bytes.NewReader(nil), pdftext.MaxSize+1); !errors.Is(err, pdftext.ErrTooBig) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := onePage("BT ET")
	if _, err := pagesOf(ctx, bytes.NewReader(data), int64(len(data))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// bomb returns a small file whose page unpacks to 100 MB, more than the limit of a page.
func bomb(t *testing.T) []byte {
	t.Helper()
	var once bytes.Buffer
	w := zlib.NewWriter(&once)
	zeros := make([]byte, 1<<20)
	for range 100 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return build("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] >>", "<< /Type /Page /Contents 4 0 R >>", streamOf("/Filter /FlateDecode", once.String()))
}

func FuzzText(f *testing.F) {
	f.Add(onePage("BT /F 10 Tf 0 700 Td [(One) -300 (two)] TJ ET"))
	f.Add(onePage("/X Do", streamOf("/Subtype /Form /Filter /LZWDecode", "\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01")))
	list, err := filepath.Glob("testdata/*.pdf")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := pdftext.Open(t.Context(), bytes.NewReader(data), int64(len(data)))
		for n := 1; err == nil && n <= min(d.Pages(), 20); n++ {
			if _, err = d.Page(t.Context(), n); err == nil {
				_, err = d.Pick(t.Context(), n, n)
			}
		}
		if err != nil && strings.Contains(err.Error(), "goroutine") {
			t.Fatal(err)
		}
	})
}
