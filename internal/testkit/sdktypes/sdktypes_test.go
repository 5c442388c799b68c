package sdktypes_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/sdktypes"
)

var update = flag.Bool("update", false, "write the types of the libraries")

const libraries = "../../../sdk"

func TestTypesOfTheLibrariesAreThoseOfTheSchemas(t *testing.T) {
	files, err := sdktypes.Files("../../../docs")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		path := filepath.Join(libraries, filepath.FromSlash(name))
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s and the schemas differ: %s (run go test ./internal/testkit/sdktypes -update) %v", name, firstDifference(string(got), want), err)
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "there is " + g[i] + ", not " + w[i]
		}
	}
	return "one has more lines"
}

func TestPythonTakesTheTypes(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	cmd := exec.Command(python, "-B", "-c", "import jcode_types as t; e = t.TextEvent(type='text', delta='x'); assert e['delta'] == 'x'; assert t.TextEvent.__required_keys__ == {'type', 'delta'}, t.TextEvent.__required_keys__")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(libraries, "python"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// typeScript returns the folder in which scripts/install-typescript has put the compiler.
func typeScript(t *testing.T) string {
	t.Helper()
	compiler := filepath.Join(os.Getenv("JCODE_TEST_TYPESCRIPT"), "node_modules", ".bin", "tsc")
	if _, err := os.Stat(compiler); err != nil || os.Getenv("JCODE_TEST_TYPESCRIPT") == "" {
		t.Skip("needs TypeScript: scripts/install-typescript FOLDER, and JCODE_TEST_TYPESCRIPT=FOLDER")
	}
	return compiler
}

func TestTheCompilerTakesTheTypesOfTypeScript(t *testing.T) {
	compiler := typeScript(t)
	check := func(file string) (string, error) {
		out, err := exec.Command(compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2023,dom", file).CombinedOutput()
		return string(out), err
	}
	if out, err := check(filepath.Join(libraries, "typescript", "testdata", "types.ts")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// What would be wrong is said to be: the types say something.
	source, err := os.ReadFile(filepath.Join(libraries, "typescript", "testdata", "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(libraries, "typescript", "testdata", "wrong.ts")
	t.Cleanup(func() {
		if err := os.Remove(wrong); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(wrong, []byte(strings.ReplaceAll(string(source), "// @ts-expect-error", "//")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := check(wrong)
	if n, want := strings.Count(out, "error TS"), strings.Count(string(source), "// @ts-expect-error"); err == nil || n != want {
		t.Errorf("%d faults are found, want %d:\n%s", n, want, out)
	}
}

// The methods that the types of TypeScript declare are those that the library has.
func TestTypeScriptDeclaresWhatThereIs(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	library, err := filepath.Abs(filepath.Join(libraries, "typescript", "jcode.js"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, "--input-type=module", "-e", `
		const all = await import("file://" + process.argv[1]);
		for (const [name, it] of Object.entries(all)) {
			console.log(name);
			for (const m of Object.getOwnPropertyNames(it.prototype ?? {}))
				if (m !== "constructor" && typeof Object.getOwnPropertyDescriptor(it.prototype, m).value === "function") console.log(name + "." + m);
		}`, library).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var there []string
	for _, name := range strings.Fields(string(out)) {
		if !strings.Contains(name, "._") {
			there = append(there, name)
		}
	}
	slices.Sort(there)
	declared := declarations(t)
	if !slices.Equal(there, declared) {
		t.Errorf("there are %v, declared are %v", there, declared)
	}
}

// declarations lists the classes, their methods and the functions of jcode.d.ts.
func declarations(t *testing.T) (out []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(libraries, "typescript", "jcode.d.ts"))
	if err != nil {
		t.Fatal(err)
	}
	class := ""
	method := regexp.MustCompile(`^  (?:static )?([A-Za-z]+)(?:<[^>]*>)?\(`)
	for line := range strings.Lines(string(source)) {
		if m := regexp.MustCompile(`^export declare (class|function) ([A-Za-z]+)`).FindStringSubmatch(line); m != nil {
			out, class = append(out, m[2]), m[2]
		} else if strings.HasPrefix(line, "}") {
			class = ""
		} else if m := method.FindStringSubmatch(line); m != nil && class != "" && !strings.Contains(line, "static ") {
			if m[1] != "constructor" {
				out = append(out, class+"."+m[1])
			}
		}
	}
	slices.Sort(out)
	return out
}
