package search_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"jcode/internal/search"
)

// Lines of files that read decodes are found and shown as it shows them.
func TestFilesOfOtherEncodingsAreSearchedAsTheyAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	japanese1 := "これは日本語の文章です。検索できます。\n二行目もあります。表示を確認してください。\n" + strings.Repeat("同じ文章を何度も書いています。\n", 20) + "printf here 検索\n"
	french := "Le café est fermé à midi, l'été aussi.\nDéjà vu, naïveté et cœur léger.\n" + strings.Repeat("Les élèves étaient très fatigués après la journée.\n", 20) + "printf ici déjà\n"
	for name, f := range map[string]struct {
		e    encoding.Encoding
		text string
	}{
		"sjis.txt": {japanese.ShiftJIS, japanese1}, "euc.txt": {japanese.EUCJP, japanese1}, "latin.txt": {charmap.Windows1252, french},
		"utf16le.txt": {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), french}, "utf16be.txt": {unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), french}, "marked.txt": {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), french}, "plain.txt": {encoding.Nop, french},
	} {
		data, err := f.e.NewEncoder().String(f.text)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "binary"), []byte("\x00\x01\x02printf\xff\xfe\x00\x00\x03\x00é"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, tc := range []struct {
		pattern string
		files   int
		text    string
	}{
		{"検索", 2, "検索"},
		{"表示", 2, "二行目もあります。表示を確認してください。"},
		{"café", 5, "Le café est fermé à midi, l'été aussi."},
		{"(?i)DÉJÀ vu", 5, "Déjà vu, naïveté et cœur léger."},
		{"printf", 7, "printf "},
		{`c\x{153}ur`, 5, "Déjà vu"},
		{"nowhere", 0, ""},
	} {
		p, err := search.Compile(tc.pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		found, err := search.Grep{Pattern: p, Limit: 100}.Files(context.Background(), search.Walk{Top: root, Dir: ".", Above: search.Outer(root.Name())})
		if err != nil {
			t.Fatal(err)
		}
		if found.Files != tc.files {
			t.Errorf("%s: in %d files, want %d: %+v", tc.pattern, found.Files, tc.files, found.Matches)
		}
		for _, m := range found.Matches {
			if strings.Contains(m.Text, "\ufffd") || !strings.Contains(m.Text, tc.text) {
				t.Errorf("%s: %s:%d is shown as %q", tc.pattern, m.Path, m.Line, m.Text)
			}
		}
		if found.Binary != 1 {
			t.Errorf("%s: %d binary files", tc.pattern, found.Binary)
		}
	}
	for _, name := range []string{"sjis.txt", "euc.txt"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		content, err := search.Text(f)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(content); string(got) != japanese1 || err != nil {
			t.Errorf("%s, for the lines around a match: %.60q %v", name, got, err)
		}
	}
}
