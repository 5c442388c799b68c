package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"jcode/tools"
	"jcode/tools/builtin"
)

func TestEditKeepsCRLF(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f.py", "def f():\r\n    return 1\r\n")
	res := r.ok("edit", args{"path": "f.py", "old_string": "def f():\n    return 1\n", "new_string": "def f():\n    return 2\n"})
	r.holds("f.py", "def f():\r\n    return 2\r\n")
	if res.Display.Added != 1 || res.Display.Removed != 1 {
		t.Errorf("the diff has +%d -%d lines:\n%s", res.Display.Added, res.Display.Removed, res.Display.Diff)
	}
}

func TestWriteStoresBytesAsGiven(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "a\r\nb\r\n")
	r.ok("read", args{"path": "f"})
	r.ok("write", args{"path": "f", "content": "a\nb\n"})
	r.holds("f", "a\nb\n")
}

func TestReplacementIsLiteral(t *testing.T) {
	t.Parallel()
	const now = "$& $1 ${x} $$ $`"
	for _, all := range []bool{false, true} {
		r := newRig(t, builtin.Options{})
		r.put("f.js", `log("done");`)
		r.ok("edit", args{"path": "f.js", "old_string": "done", "new_string": now, "replace_all": all})
		r.holds("f.js", `log("`+now+`");`)
	}
}

func TestEmptyOldStringOnlyCreates(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "abc")
	for _, all := range []bool{false, true} {
		r.refused("edit", args{"path": "f", "old_string": "", "new_string": "X", "replace_all": all}, "old_string is empty")
		r.holds("f", "abc")
	}
	r.put("empty", "")
	for _, name := range []string{"empty", "absent", "new/folder/f"} {
		r.ok("edit", args{"path": name, "old_string": "", "new_string": "X"})
		r.holds(name, "X")
	}
}

func TestByteOrderMarkStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f.js", "\xef\xbb\xbfconst value = 1;\n")
	r.ok("edit", args{"path": "f.js", "old_string": "const value = 1;", "new_string": "const value = 2;"})
	r.holds("f.js", "\xef\xbb\xbfconst value = 2;\n")
	for _, content := range []string{"let x;\n", "\ufefflet y;\n"} {
		r.ok("write", args{"path": "f.js", "content": content})
		r.holds("f.js", "\xef\xbb\xbf"+strings.TrimPrefix(content, "\ufeff"))
	}
}

func TestOtherEncodingsArePreservedOrRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	const latin = "caf\xe9\nb\nc\n"
	r.put("latin.txt", latin)
	r.ok("edit", args{"path": "latin.txt", "old_string": "c\n", "new_string": "d\n"})
	r.holds("latin.txt", "caf\xe9\nb\nd\n")
	r.refused("edit", args{"path": "latin.txt", "old_string": "d", "new_string": "漢"}, "can't be written in that encoding")
	r.refused("edit", args{"path": "latin.txt", "old_string": "d", "new_string": "ß"}, "has no 'ß' yet")
	r.refused("write", args{"path": "latin.txt", "content": "caf\ufffd\nb\n"}, "can't be written", "remove it first")
	r.holds("latin.txt", "caf\xe9\nb\nd\n")
	r.ok("edit", args{"path": "latin.txt", "old_string": "d", "new_string": "thé"})
	r.holds("latin.txt", "caf\xe9\nb\nth\xe9\n")

	const wide = "\xff\xfea\x00\r\x00\n\x00\xe9\x00\r\x00\n\x00"
	r.put("wide.txt", wide)
	has(t, r.ok("read", args{"path": "wide.txt"}).Text, "UTF-16 LE", "1\ta\n2\té")
	r.ok("edit", args{"path": "wide.txt", "old_string": "a\n", "new_string": "b\n"})
	r.holds("wide.txt", "\xff\xfeb\x00\r\x00\n\x00\xe9\x00\r\x00\n\x00")
	r.ok("write", args{"path": "wide.txt", "content": "z"})
	r.holds("wide.txt", "\xff\xfez\x00")
	r.put("damaged.txt", "\xff\xfea")
	r.refused("edit", args{"path": "damaged.txt", "old_string": "a", "new_string": "b"}, "UTF-16 LE")
}

// Files of encodings that nothing names are read as what they most likely are, and edits keep every other byte.
func TestFilesOfGuessedEncodingsAreReadAndEdited(t *testing.T) {
	t.Parallel()
	const (
		french = "Le déploiement se fait à midi.\nLes clés sont déposées près de l'entrée.\n"
		japan  = "配備は正午に行われます。\n鍵は入口の近くにあります。\n"
		plain  = "int main(void)\n{\n\treturn 0;\n}\n"
	)
	for name, c := range map[string]struct {
		in              encoding.Encoding
		text, said      string
		old, now        string
		refused, reason string
	}{
		"latin": {charmap.Windows1252, french, ", by its bytes", "clés", "clés de près", "漢", "can't be written in that encoding"},
		"sjis":  {japanese.ShiftJIS, japan, "Shift_JIS", "入口", "出口と入口", "é", "can't be written in that encoding"},
		"eucjp": {japanese.EUCJP, japan, "EUC-JP", "入口", "出口と入口", "😀", "can't be written in that encoding"},
		"utf16": {unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), plain, "UTF-16 LE", "return 0", "return '漢'", "", ""},
	} {
		r := newRig(t, builtin.Options{})
		bytes := func(text string) string {
			out, err := c.in.NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		r.put(name, bytes(c.text))
		first, _, _ := strings.Cut(c.text, "\n")
		has(t, r.ok("read", args{"path": name}).Text, c.said, "1\t"+first)
		r.ok("edit", args{"path": name, "old_string": c.old, "new_string": c.now})
		after := strings.Replace(c.text, c.old, c.now, 1)
		r.holds(name, bytes(after))
		if c.refused != "" {
			r.refused("edit", args{"path": name, "old_string": c.now, "new_string": c.refused}, c.reason)
			r.holds(name, bytes(after))
		}
		r.ok("write", args{"path": name, "content": after + "z\n"})
		r.holds(name, bytes(after+"z\n"))
		has(t, r.ok("apply_patch", patched("*** Update File: "+name+"\n@@\n-z\n+y")).Text, name)
		r.holds(name, bytes(after+"y\n"))
	}
}

func TestSimilarTextIsNeverReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	const f = "func f() int {\n\tx := 1\n\ty := 2\n\treturn x + y\n}\n"
	r.put("f.go", f)
	r.refused("edit", args{
		"path": "f.go", "old_string": "func f() int {\n\tx := 1\n\ty := 99\n\treturn x + y\n}\n", "new_string": "func f() int { return 3 }\n",
	}, "not in the file", "≠    3  \ty := 2")
	r.holds("f.go", f)
}

func TestIndentationFollowsTheFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("one.go", "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n")
	edit := args{"path": "one.go", "old_string": "    if x {\n        y()\n    }\n", "new_string": "    if x {\n        y()\n        z()\n    }\n"}
	has(t, r.ok("edit", edit).Text, "ignoring indentation", "tabs")
	r.holds("one.go", "func f() {\n\tif x {\n\t\ty()\n\t\tz()\n\t}\n}\n")

	const two = "\tif x {\n\t\ty()\n\t}\n\tif x {\n\t\ty()\n\t}\n"
	r.put("two.go", two)
	edit["path"] = "two.go"
	r.refused("edit", edit, "lines 1 and 4")
	r.holds("two.go", two)
}

func TestAmbiguousEditNamesTheLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	const f = "a\nx = 1\nb\nc\nd\ne\nx = 1\n"
	r.put("f", f)
	r.refused("edit", args{"path": "f", "old_string": "x = 1", "new_string": "x = 2"}, "2 times", "lines 2 and 7")
	r.holds("f", f)
	has(t, r.ok("edit", args{"path": "f", "old_string": "x = 1", "new_string": "x = 2", "replace_all": true}).Text, "2 places")
	r.holds("f", strings.ReplaceAll(f, "x = 1", "x = 2"))
}

func TestEqualStringsAreNoChange(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "a\n")
	before, err := os.Stat(filepath.Join(r.dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	r.refused("edit", args{"path": "f", "old_string": "a", "new_string": "a"}, "no change")
	after, err := os.Stat(filepath.Join(r.dir, "f"))
	if err != nil || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
		t.Errorf("the file was touched (%v)", err)
	}
}

func TestEditAppliesToFreshContent(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "one\ntwo\n")
	r.ok("read", args{"path": "f"})
	r.put("f", "one\ntwo\nforeign\n")
	has(t, r.ok("edit", args{"path": "f", "old_string": "one", "new_string": "1"}).Text, "had changed on disk")
	r.holds("f", "1\ntwo\nforeign\n")
	if text := r.ok("edit", args{"path": "f", "old_string": "two", "new_string": "2"}).Text; strings.Contains(text, "had changed") {
		t.Errorf("our own edit counts as foreign:\n%s", text)
	}
}

func TestWriteOverChangedFileIsRefusedWithWhatChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "one\ntwo\n")
	r.ok("read", args{"path": "f"})
	r.put("f", "one\ntwo\nforeign\n")
	r.refused("write", args{"path": "f", "content": "mine\n"}, "changed on disk", "+foreign")
	r.holds("f", "one\ntwo\nforeign\n")
	// Now the model has seen it.
	r.ok("write", args{"path": "f", "content": "mine\nforeign\n"})
	r.holds("f", "mine\nforeign\n")
	// A script is a program.
	r.put("f", "again\n")
	c := tools.Caller{Session: "s", Origin: tools.OriginScript}
	if res := r.callAs(c, "write", args{"path": "f", "content": "s"}); res.Failed {
		t.Errorf("%+v: %s", c, res.Text)
	}
}

func TestParallelEditsOfOneFileAllApply(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("a", "")
	r.link("a", "l")
	for round := range 100 {
		var seq strings.Builder
		for i := 1; i <= 100; i++ {
			fmt.Fprintf(&seq, "%d\n", i)
		}
		r.put("a", seq.String())
		var wg sync.WaitGroup
		for name, e := range map[string][2]string{"a": {"50", "FIFTY"}, "./a": {"75", "SEVENTY-FIVE"}, "l": {"25", "TWENTY-FIVE"}} {
			wg.Go(func() {
				raw, _ := json.Marshal(args{"path": name, "old_string": "\n" + e[0] + "\n", "new_string": "\n" + e[1] + "\n"})
				tool, _, _ := r.disp.Registry.Snapshot(nil).Lookup("edit")
				if _, err := tool.Tool.Run(context.Background(), tools.Call{ID: name, Name: "edit", Arguments: raw}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want := strings.NewReplacer("\n50\n", "\nFIFTY\n", "\n75\n", "\nSEVENTY-FIVE\n", "\n25\n", "\nTWENTY-FIVE\n").Replace(seq.String())
		if got := r.get("a"); got != want {
			t.Fatalf("round %d: an edit was lost", round)
		}
	}
}

func TestEndOfFileStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "a\nb")
	r.ok("edit", args{"path": "f", "old_string": "a", "new_string": "c"})
	r.holds("f", "c\nb")
}

func TestModeAndLinkStay(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("run.sh", "echo a\n")
	if err := os.Chmod(filepath.Join(r.dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.link("run.sh", "link")
	r.ok("edit", args{"path": "link", "old_string": "a", "new_string": "b"})
	r.holds("run.sh", "echo b\n")
	if info, err := os.Lstat(filepath.Join(r.dir, "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "run.sh")); runtime.GOOS != "windows" && (err != nil || info.Mode() != 0o755) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestMentionsAndLookAlikesResolve(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("src/x.go", "package x\n")
	r.ok("edit", args{"path": "@src/x.go", "old_string": "package x", "new_string": "package y"})
	r.holds("src/x.go", "package y\n")
	r.ok("write", args{"path": "@src/new.go", "content": "n"})
	r.holds("src/new.go", "n")

	r.put("shot\u202fPM.txt", "one")
	has(t, r.ok("read", args{"path": "shot PM.txt"}).Text, "look-alike", "one")
	r.ok("write", args{"path": "shot PM.txt", "content": "two"})
	r.holds("shot\u202fPM.txt", "two")
	if _, err := os.Lstat(filepath.Join(r.dir, "shot PM.txt")); err == nil {
		t.Error("a twin was made")
	}
	r.put("shot\u00a0PM.txt", "other")
	r.refused("read", args{"path": "shot PM.txt"}, "look like it")

	r.put("@scope/f", "kept")
	has(t, r.ok("read", args{"path": "@scope/f"}).Text, "kept")
}

func TestOmissionMarkerIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	f := strings.Repeat("line\n", 50)
	r.put("f.js", f)
	r.refused("write", args{"path": "f.js", "content": "a\nb\n// ... rest of code unchanged ...\nc\nd\n"}, "rest of code unchanged", "replaces omitted text")
	r.holds("f.js", f)
	r.put("g.js", "// ... rest of code unchanged ...\n")
	r.ok("write", args{"path": "g.js", "content": "x\n// ... rest of code unchanged ...\n"})
}

func TestEditsOfOneCallAreAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	r.put("f", "a\nb\n")
	r.refused("edit", args{"path": "f", "edits": []args{{"old_string": "a", "new_string": "1"}, {"old_string": "z", "new_string": "2"}}}, "edit 2 of 2")
	r.holds("f", "a\nb\n")
	r.ok("edit", args{"path": "f", "edits": []args{{"old_string": "a", "new_string": "1"}, {"old_string": "b", "new_string": "2"}}})
	r.holds("f", "1\n2\n")
	r.refused("edit", args{"path": "f"}, "missing required argument: old_string")
	r.refused("edit", args{"path": "f", "old_string": "1"}, "missing required argument: new_string")
}

func TestPlansShowDiffAndResolvedPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	outside := t.TempDir()
	outside, err := filepath.EvalSymlinks(outside)
	if err != nil {
		t.Fatal(err)
	}
	r.link(outside, "l")
	r.put("f", "a\n")
	r.ok("read", args{"path": "f"})
	r.gate.plans = nil
	r.ok("write", args{"path": "f", "content": "b\n"})
	r.ok("write", args{"path": "l/new", "content": "x"})
	r.ok("edit", args{"path": "f", "old_string": "b", "new_string": "c"})
	r.ok("mkdir", args{"path": "d/e"})
	r.ok("mv", args{"src": "f", "dst": "d"})
	r.ok("remove", args{"path": "d"})
	r.ok("read", args{"path": "l/../l/new"})
	join := func(p string) string { return filepath.Join(r.dir, filepath.FromSlash(p)) }
	for i, want := range []struct {
		summary string
		kind    tools.AccessKind
		path    string
		diff    string
	}{
		{"Write to file: f", tools.AccessWrite, join("f"), "-a\n+b\n"},
		{"Write to file: " + filepath.ToSlash(outside) + "/new", tools.AccessWrite, filepath.Join(outside, "new"), "+x"},
		{"Edit file: f", tools.AccessRead, join("f"), "-b\n+c\n"},
		{"Create directory: d/e", tools.AccessWrite, join("d/e"), ""},
		{"Move: f -> d/f", tools.AccessDelete, join("f"), ""},
		{"Remove: d", tools.AccessDelete, join("d"), ""},
		{"Read: " + filepath.ToSlash(outside) + "/new", tools.AccessRead, filepath.Join(outside, "new"), ""},
	} {
		p := r.gate.plans[i]
		if p.Summary != want.summary || p.Accesses[0].Kind != want.kind || p.Accesses[0].Path != want.path || !strings.Contains(p.Diff, want.diff) {
			t.Errorf("plan %d is %+v, want %+v", i, p, want)
		}
	}
	if edit := r.gate.plans[2]; len(edit.Accesses) != 2 || edit.Accesses[1].Kind != tools.AccessWrite || edit.Accesses[1].Path != join("f") {
		t.Errorf("edit is judged by %+v", edit.Accesses)
	}
	if notes := r.gate.plans[5].Notes; len(notes) != 1 || notes[0] != "a folder with 1 file in it" {
		t.Errorf("remove notes %q", notes)
	}
	if mv := r.gate.plans[4]; len(mv.Accesses) != 2 || mv.Accesses[1].Kind != tools.AccessWrite || mv.Accesses[1].Path != join("d/f") {
		t.Errorf("mv is judged by %+v", mv.Accesses)
	}
}

// swapGate changes where a link leads after it was judged.
type swapGate struct {
	allowAll
	swap func()
}

func (g *swapGate) Check(ctx context.Context, req tools.GateRequest) tools.Decision {
	g.swap()
	return g.allowAll.Check(ctx, req)
}

func TestLinkThatTurnsAfterApprovalIsNotFollowed(t *testing.T) {
	t.Parallel()
	r := newRig(t, builtin.Options{})
	outside := t.TempDir()
	r.put("in/f", "a")
	r.link("in", "l")
	r.ok("read", args{"path": "l/f"})
	r.disp.Gate = &swapGate{swap: func() {
		link := filepath.Join(r.dir, "l")
		if err := errors.Join(os.Remove(link), os.Symlink(outside, link)); err != nil {
			t.Error(err)
		}
	}}
	r.refused("write", args{"path": "l/f", "content": "stolen"}, "leads somewhere else")
	if _, err := os.Lstat(filepath.Join(outside, "f")); err == nil {
		t.Error("a file outside was written")
	}
}

// swapRecorder turns a folder into a link at the last moment before a change.
type swapRecorder struct{ swap func() }

func (*swapRecorder) Found(context.Context, tools.Call, string, []byte, []byte) error { return nil }

func (s *swapRecorder) Track(context.Context, tools.Call, []string) (func(context.Context, builtin.Written) error, error) {
	if s.swap != nil {
		s.swap()
	}
	return func(context.Context, builtin.Written) error { return nil }, nil
}

// A link that is created between the last check and the change is not followed, not even to a place
// in the workspace that nothing else protects: git's hooks.
func TestLinkThatTurnsAtTheLastMomentIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool string
		args args
		turn string // what becomes a link to the hooks
	}{
		{"write", args{"path": "d/post-commit", "content": "evil"}, "d"},
		{"write", args{"path": "d/e/post-commit", "content": "evil"}, "d"},
		{"write", args{"path": "new/post-commit", "content": "evil"}, "new"},
		{"write", args{"path": "new/deep/post-commit", "content": "evil"}, "new"},
		{"edit", args{"path": "d/pre-commit", "old_string": "harmless", "new_string": "evil"}, "d"},
		{"mkdir", args{"path": "d/post-commit"}, "d"},
		{"mkdir", args{"path": "new/post-commit"}, "new"},
		{"mv", args{"src": "script", "dst": "d/post-commit"}, "d"},
		{"mv", args{"src": "script", "dst": "new/post-commit"}, "new"},
		{"mv", args{"src": "d/pre-commit", "dst": "moved"}, "d"},
		{"remove", args{"path": "d/pre-commit"}, "d"},
		{"apply_patch", patched("*** Update File: d/pre-commit\n@@\n-harmless\n+evil"), "d"},
		{"apply_patch", patched("*** Add File: d/post-commit\n+evil"), "d"},
		{"apply_patch", patched("*** Add File: new/post-commit\n+evil"), "new"},
		{"apply_patch", patched("*** Update File: script\n*** Move to: d/post-commit"), "d"},
		{"apply_patch", patched("*** Delete File: d/pre-commit"), "d"},
	} {
		rec := &swapRecorder{}
		r := newRig(t, builtin.Options{Recorder: rec})
		r.put(".git/hooks/pre-commit", "own")
		r.put("d/pre-commit", "harmless")
		r.put("d/e/x", "")
		r.put("script", "evil")
		rec.swap = func() {
			path := filepath.Join(r.dir, tc.turn)
			if err := os.Rename(path, path+".aside"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			if err := os.Symlink(filepath.Join(".git", "hooks"), path); err != nil {
				t.Skipf("links can't be made here: %v", err)
			}
		}
		res := r.call(tc.tool, tc.args)
		left, err := os.ReadDir(filepath.Join(r.dir, ".git", "hooks"))
		if err != nil || len(left) != 1 {
			t.Errorf("%s %v: the hooks are %v, %v; %s", tc.tool, tc.args, left, err, res.Text)
		}
		r.holds(".git/hooks/pre-commit", "own")
	}
}

// An approved path outside the workspace is entered without following a link that was created since.
func TestApprovedPathOutsideIsEnteredWithoutLinks(t *testing.T) {
	t.Parallel()
	rec := &swapRecorder{}
	r := newRig(t, builtin.Options{Recorder: rec})
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a", "secret"} {
		if err := os.Mkdir(filepath.Join(outside, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rec.swap = func() {
		a := filepath.Join(outside, "a")
		if err := errors.Join(os.Rename(a, a+".aside"), os.Symlink("secret", a)); err != nil {
			t.Skipf("links can't be made here: %v", err)
		}
	}
	r.call("write", args{"path": filepath.ToSlash(outside) + "/a/new/f", "content": "x"})
	if left, err := os.ReadDir(filepath.Join(outside, "secret")); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}

func TestAfterEditTellsAndMakesNothingStale(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	r := newRig(t, builtin.Options{Runner: sh{}, AfterEdit: []builtin.AfterEdit{
		{Glob: "**/*.go", Command: `tr -s ' ' < "$FILE" > "$FILE.new" && mv "$FILE.new" "$FILE"; printf '\033[31mbad name\033[0m\n'; exit 3`},
		{Glob: "*.go", Command: "true"},
	}})
	const name = "sub dir/it's $(f).go"
	res := r.ok("write", args{"path": name, "content": "a    b\n"})
	has(t, res.Text, "exit code 3", "bad name", "after_edit changed the file", "+a b")
	if strings.Contains(res.Text, "\x1b") {
		t.Errorf("control sequences came through: %q", res.Text)
	}
	r.holds(name, "a b\n")
	if text := r.ok("edit", args{"path": name, "old_string": "a", "new_string": "y"}).Text; strings.Contains(text, "had changed") {
		t.Errorf("what the formatter did counts as foreign:\n%s", text)
	}
	r.ok("write", args{"path": "f.txt", "content": "a    b\n"})
	r.holds("f.txt", "a    b\n")
}

// sh runs commands with the system's shell.
type sh struct{}

func (sh) RunCommand(ctx context.Context, command, dir string, _ bool) (string, int, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode(), nil
	}
	return string(out), 0, err
}

// recorder records its calls.
type recorder struct {
	calls []string
	fail  error
}

func (r *recorder) note(what string, paths []string) {
	for _, p := range paths {
		state := "absent"
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			state = "folder"
		} else if data, err := os.ReadFile(p); err == nil {
			state = string(data)
		}
		r.calls = append(r.calls, what+" "+filepath.Base(p)+"="+state)
	}
}

func (*recorder) Found(context.Context, tools.Call, string, []byte, []byte) error { return nil }

func (r *recorder) Track(_ context.Context, _ tools.Call, paths []string) (func(context.Context, builtin.Written) error, error) {
	r.note("before", paths)
	return func(context.Context, builtin.Written) error { r.note("after", paths); return nil }, r.fail
}

func TestRecorderSeesEveryChange(t *testing.T) {
	t.Parallel()
	rec := &recorder{}
	r := newRig(t, builtin.Options{Recorder: rec})
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"write", args{"path": "d/a", "content": "1"}, "before d=absent, after d=folder"},
		{"edit", args{"path": "d/a", "old_string": "1", "new_string": "2"}, "before a=1, after a=2"},
		{"write", args{"path": "d/a", "content": "2"}, ""}, // no change
		{"mv", args{"src": "d", "dst": "new/e"}, "before d=folder, before new=absent, after d=absent, after new=folder"},
		{"mkdir", args{"path": "x/y/z"}, "before x=absent, after x=folder"},
		{"remove", args{"path": "new"}, "before new=folder, after new=absent"},
		{"apply_patch", patched("*** Add File: p/q\n+1", "*** Add File: r\n+2"), "before p=absent, before r=absent, after p=folder, after r=2\n"},
		{"apply_patch", patched("*** Delete File: r", "*** Update File: p/q\n*** Move to: s"), "before r=2\n, before q=1\n, before s=absent, after r=absent, after q=absent, after s=1\n"},
	} {
		rec.calls = nil
		r.ok(c.tool, c.args)
		if got := strings.Join(rec.calls, ", "); got != c.want {
			t.Errorf("%s %v: got %s, want %s", c.tool, c.args, got, c.want)
		}
	}
	rec.fail = errors.New("disk full")
	r.refused("write", args{"path": "b", "content": "x"}, "disk full", "undo")
	if _, err := os.Lstat(filepath.Join(r.dir, "b")); err == nil {
		t.Error("a change that could not be recorded was made")
	}
}
