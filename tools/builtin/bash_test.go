//go:build !windows

package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// What models write all day is bash: it runs in bash, without the files that a person's own bash reads.
func TestCommandsOfTheModelRunInBash(t *testing.T) {
	t.Parallel()
	if builtin.Bash() == nil {
		t.Skip("no bash here")
	}
	home := t.TempDir()
	for _, name := range []string{".bashrc", ".bash_profile", ".profile", "env"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("echo unexpected\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newShell(t, func(o *builtin.ShellOptions) {
		o.Bash = builtin.Bash()
		o.Env = func() []string {
			return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BASH_ENV=" + filepath.Join(home, "env"), "SHELLOPTS=xtrace", "ENV=" + filepath.Join(home, "env")}
		}
	})
	for line, want := range map[string]string{
		`[[ abc == a* ]] && echo yes`:                                 "yes",
		`a=(1 2 3); echo "${a[1]} ${#a[@]}"`:                          "2 3",
		`set -o pipefail; false | true || echo failed`:                "failed",
		`cat <(echo one) <(echo two)`:                                 "one\ntwo",
		`echo {1..3} $'a\tb'`:                                         "1 2 3 a\tb",
		`for ((i=0; i<2; i++)); do echo $i; done`:                     "0\n1",
		`x=hello; echo ${x^^} ${x/l/L}`:                               "HELLO heLlo",
		`grep -c . <<< 'one line'`:                                    "1",
		`shopt -q login_shell && echo login; [[ $- == *i* ]] || echo`: "",
	} {
		if got := strings.TrimSpace(r.run(m{"cmd": line}).Text); got != want && got != "(no output)" {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if text := r.exec.Spec().Description; !strings.Contains(text, "`bash -c`") || strings.Contains(text, "SHELL") {
		t.Error(text)
	}
	script := call("exec", m{"cmd": `echo "$0"; [ -n "$BASH_VERSION" ] || echo plain`})
	script.Caller.Origin = tools.OriginScript
	plan, err := r.exec.(tools.Planner).Plan(context.Background(), script)
	if err != nil || plan.Accesses[0].Bash {
		t.Errorf("%+v, %v", plan, err)
	}
	script.Progress = func(tools.Progress) {}
	if res, err := r.exec.Run(context.Background(), script); err != nil || !strings.Contains(res.Text, "/sh") {
		t.Errorf("a script: %q, %v", res.Text, err)
	}
	if plan, err = r.exec.(tools.Planner).Plan(context.Background(), call("exec", m{"cmd": "ls"})); err != nil || !plan.Accesses[0].Bash {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestCommandsRunInShWhereThereIsNoBash(t *testing.T) {
	t.Parallel()
	r := newShell(t)
	if text := r.exec.Spec().Description; !strings.Contains(text, "`sh -c`") {
		t.Error(text)
	}
	if res := r.run(m{"cmd": "echo $0"}); !strings.Contains(res.Text, "sh") {
		t.Errorf("%q", res.Text)
	}
}
