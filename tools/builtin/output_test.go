//go:build unix

package builtin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jcode/tools/builtin"
)

func TestOutputKeepsTheOrderInWhichItIsWritten(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	for cmd, want := range map[string]string{
		"echo 1; echo 2 >&2; echo 3; echo 4 >&2; echo 5":                   "1\n2\n3\n4\n5",
		"set -x; echo a; echo b":                                           "+ echo a\na\n+ echo b\nb",
		"for i in 1 2 3 4 5 6 7 8; do echo $i; echo e$i >&2; done; exit 3": "1\ne1\n2\ne2\n3\ne3\n4\ne4\n5\ne5\n6\ne6\n7\ne7\n8\ne8\n[exit code 3]",
	} {
		if got := r.sh(cmd).Text; got != want {
			t.Errorf("%s: %q, want %q", cmd, got, want)
		}
	}
	out, code, err := r.RunCommand(t.Context(), "echo 1; echo 2 >&2; echo 3; exit 2", r.root, false)
	if out != "1\n2\n3\n" || code != 2 || err != nil {
		t.Errorf("%q, %d, %v", out, code, err)
	}
}

func TestOutputThatIsNoTextIsDescribed(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	r := newShell(t, func(o *builtin.ShellOptions) { o.Logs = logs })
	random := bytes.Repeat([]byte{1, 2, 0, 0xff, 'a', 0x80, 3, 0}, 40_000)
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(r.root, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("random", random)
	write("small", random[:800])
	write("picture", append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), random[:400]...))
	write("big", bytes.Repeat(random, 10))
	for cmd, want := range map[string]string{
		"head -c 9 /dev/zero":         "[the output is not text: 9 bytes, all NUL]",
		"printf '\\001\\002'":         "[the output is not text: 2 bytes of binary data: 01 02]",
		"cat picture":                 "[the output is not text: 416 bytes of image/png, which begin with 89 50 4e 47",
		"cat random":                  "[the output is not text: 320000 bytes of binary data, which begin with 01 02 00 ff",
		"cat random; exit 4":          "[exit code 4]",
		"head -c 300000000 /dev/zero": "[the output is not text: 300000000 bytes",
	} {
		got := r.sh(cmd).Text
		if !strings.Contains(got, want) || strings.Contains(got, "\uFFFD") || len(got) > 600 {
			t.Errorf("%s: %.800q, want %q", cmd, got, want)
		}
	}
	for name, size := range map[string]int{"small": 800, "random": len(random), "big": 10 * len(random)} {
		got := r.sh("cat " + name).Text
		log := regexp.MustCompile(`the whole is in ([^\]]+)\]`).FindStringSubmatch(got)
		if log == nil {
			t.Errorf("%s: the whole is nowhere: %s", name, got)
			continue
		}
		kept, err := os.ReadFile(log[1])
		want, werr := os.ReadFile(filepath.Join(r.root, name))
		if err != nil || werr != nil || len(want) != size || !bytes.Equal(kept, want) {
			t.Errorf("%s: %d bytes kept of %d: %v, %v", name, len(kept), size, err, werr)
		}
	}
}

func TestTextStaysTextInOutput(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	for cmd, want := range map[string]string{
		`printf 'one\rtwo\rthree\n'`:                                        "one\ntwo\nthree",
		`i=0; while [ $i -lt 50 ]; do printf "step $i\r"; i=$((i+1)); done`: "step 49",
		`printf 'a.txt\0b c.txt\0d\0'`:                                      "a.txt␀\nb c.txt␀\nd␀",
		`printf '\303\244\303\266 \033[31mred\033[0m\n'`:                    "äö red",
		`printf '\317\360\350\342\345\362\n'`:                               "\uFFFD", // an old 8-bit encoding
		"true":                                                              "(no output)",
	} {
		if got := r.sh(cmd).Text; got != want {
			t.Errorf("%s: %q, want %q", cmd, got, want)
		}
	}
}
