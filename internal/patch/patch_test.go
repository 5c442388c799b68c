package patch_test

import (
	"strings"
	"testing"

	"jcode/internal/patch"
)

// apply parses the hunks of an update and applies them to a text.
func apply(text, hunks string) (patch.Done, error) {
	files, err := patch.Parse("*** Begin Patch\n*** Update File: f\n" + hunks + "\n*** End Patch")
	if err != nil {
		return patch.Done{}, err
	}
	return patch.Apply(text, files[0].Hunks)
}

func TestHunksFindTheirPlace(t *testing.T) {
	t.Parallel()
	const code = "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"
	for about, c := range map[string]struct{ text, hunks, want string }{
		"one line":                        {"a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"},
		"without a heading":               {"a\nb\nc\n", " a\n-b\n+B", "a\nB\nc\n"},
		"two hunks":                       {"a\nb\nc\nd\ne\n", "@@\n-b\n+B\n@@\n d\n-e\n+E", "a\nB\nc\nd\nE\n"},
		"a heading that says which":       {code, "@@ class B:\n     def f(self):\n-        return 1\n+        return 2", strings.TrimSuffix(code, "1\n") + "2\n"},
		"headings one in the other":       {code, "@@ class B:\n@@     def f(self):\n-        return 1\n+        return 2", strings.TrimSuffix(code, "1\n") + "2\n"},
		"the beginning of a line":         {code, "@@ class B\n@@ def f\n-        return 1\n+        return 2", strings.TrimSuffix(code, "1\n") + "2\n"},
		"numbers of another kind":         {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B", "a\nB\n"},
		"the end of the file":             {"x\ny\nx\n", "@@\n-x\n+X\n*** End of File", "x\ny\nX\n"},
		"added at the end":                {"a\n", "@@\n+b\n*** End of File", "a\nb\n"},
		"added behind a heading":          {"a\nb\n", "@@ a\n+x", "a\nx\nb\n"},
		"an empty file":                   {"", "@@\n+x", "x\n"},
		"carriage returns stay":           {"a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n c", "a\r\nB\r\nc\r\n"},
		"no ending at the end":            {"a\nb", "@@\n a\n-b\n+B", "a\nB"},
		"lines behind one without ending": {"a\nb", "@@\n b\n+c", "a\nb\nc"},
		"an empty line that is unmarked":  {"a\n\nb\n", "@@\n a\n\n-b\n+B", "a\n\nB\n"},
		"spaces at line ends":             {"a  \nb\n", "@@\n a\n-b\n+B", "a  \nB\n"},
		"kinds of quotes":                 {"say “hi”\nb\n", "@@\n say \"hi\"\n-b\n+B", "say “hi”\nB\n"},
		"removed alone":                   {"a\nb\nc\n", "@@\n a\n-b\n c", "a\nc\n"},
		"all of it":                       {"a\n", "@@\n-a", ""},
	} {
		got, err := apply(c.text, c.hunks)
		if err != nil || got.Text != c.want {
			t.Errorf("%s: %q, %v; want %q", about, got.Text, err, c.want)
		}
		if said := len(got.Notes) > 0; said != (about == "spaces at line ends" || about == "kinds of quotes") {
			t.Errorf("%s: notes %q", about, got.Notes)
		}
	}
}

func TestAPlaceThatIsNotThereIsNeverGuessed(t *testing.T) {
	t.Parallel()
	for about, c := range map[string]struct{ text, hunks, want string }{
		"similar":             {"func a() {\n\treturn 1\n}\n", "@@\n func a() {\n-\treturn 2\n+\treturn 3", "nearest lines"},
		"another indentation": {"\tx := 1\n", "@@\n-    x := 1\n+    x := 2", "nearest lines"},
		"twice":               {"a\nb\na\nb\n", "@@\n a\n-b\n+B", "found 2 times, at lines 1, 3"},
		"the wrong order":     {"a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A", "order of the file"},
		"before its heading":  {"a\nb\n", "@@ b\n-a\n+A", "before the line that its @@ line names"},
		"no such heading":     {"func one() {\n}\n", "@@ func onne() {\n-}\n+)", "no line reads"},
		"made already":        {"a\nB\n", "@@\n a\n-b\n+B", "applied before"},
		"not at the end":      {"a\nb\n", "@@\n-a\n+A\n*** End of File", "not the last of the file"},
		"only additions":      {"a\n", "@@\n+b", "does not say where"},
		"nothing like it":     {"a\n", "@@\n-qqqqqqqq\n+b", "nor anything like"},
		"no change":           {"a\n", "@@\n a", "changes nothing"},
		"nothing new":         {"a\n", "@@\n-a\n+a", "already reads"},
	} {
		got, err := apply(c.text, c.hunks)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v; want %q", about, got.Text, err, c.want)
		}
	}
}

func TestWhatIsWrongWithAPatchIsNamedByItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "does not begin",
		"*** Begin Patch":                "cut",
		"*** Begin Patch\n*** End Patch": "empty",
		"*** Begin Patch\n*** Rename File: a\n*** End Patch":                                 "line 2 of the patch",
		"*** Begin Patch\n*** Add File: a\nx\n*** End Patch":                                 "line 3 of the patch",
		"*** Begin Patch\n*** Update File: a\n@@\n-a\nb\n*** End Patch":                      "line 5 of the patch",
		"*** Begin Patch\n*** Update File: \n@@\n-a\n*** End Patch":                          "names no file",
		"*** Begin Patch\n*** Update File: a\n*** End Patch":                                 "changes nothing",
		"*** Begin Patch\n*** Begin Patch\n*** Delete File: a\n*** End Patch":                "a second",
		"Here it is:\n*** Begin Patch\n*** Delete File: a\n*** End Patch":                    "outside",
		"*** Begin Patch\n*** Delete File: a\n*** End Patch\nand another\n*** Begin Patch\n": "outside",
	} {
		if files, err := patch.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, files, err, want)
		}
	}
}

func TestAPatchIsTakenOutOfWhatModelsPutAroundIt(t *testing.T) {
	t.Parallel()
	const inner = "*** Begin Patch\n*** Add File: a b.txt\n+one\n+\n+two\n*** Delete File: c\n*** Update File: d\n*** Move to: e/d\n\n*** End Patch"
	for _, text := range []string{inner, "\n" + inner + "\n\n", "```\n" + inner + "\n```", "apply_patch <<'EOF'\n" + inner + "\nEOF\n", strings.ReplaceAll(inner, "\n", "\r\n")} {
		files, err := patch.Parse(text)
		if err != nil || len(files) != 3 || files[0].Path != "a b.txt" || files[0].Text != "one\n\ntwo\n" || files[1].Kind != patch.Delete || files[2].MoveTo != "e/d" {
			t.Errorf("%q: %+v, %v", text, files, err)
		}
	}
}

// FuzzParse checks that any text is a patch with named files, or an error that says why not.
func FuzzParse(f *testing.F) {
	f.Add("*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@ d\n-e\n+f\n*** End of File\n*** Delete File: g\n*** End Patch")
	f.Add("```\r\n*** Begin Patch\r\n*** End Patch\r\n```")
	f.Add("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n@@\n\n-\n*** End Patch\nEOF")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := patch.Parse(text)
		switch {
		case err != nil && (err.Error() == "" || files != nil):
			t.Fatalf("%+v %v", files, err)
		case err == nil && len(files) == 0, err == nil && len(patch.Paths(text)) == 0:
			t.Fatalf("%q is a patch of nothing", text)
		}
		for _, file := range files {
			if file.Path == "" || strings.Contains(file.Path+file.MoveTo, "\n") || file.Kind != patch.Update && len(file.Hunks)+len(file.MoveTo) > 0 {
				t.Fatalf("%q: %+v", text, file)
			}
		}
	})
}

// FuzzApply checks that a patch changes no line that it does not name.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\nc\n", "@@\n a\n-b\n+B\n c")
	f.Add("a\r\n\r\nb", "@@ a\n\n-b\n+B\n*** End of File")
	f.Add("x “y”  \nz\n", "@@\n x \"y\"\n-z")
	f.Fuzz(func(t *testing.T, text, hunks string) {
		got, err := apply(text, hunks)
		if err != nil {
			return
		}
		if got.Text == text {
			t.Fatalf("nothing was changed: %q", text)
		}
		kept := 0
		for l := range strings.Lines(got.Text) {
			l = strings.TrimRight(l, "\r\n")
			if strings.Contains(hunks, "+"+l) {
				continue // it may have been added
			}
			i := strings.Index(text[kept:], l)
			if i < 0 {
				t.Fatalf("%q is a line of neither the file nor the patch:\n%q\n%q\n%q", l, text, hunks, got.Text)
			}
			kept += i
		}
	})
}
