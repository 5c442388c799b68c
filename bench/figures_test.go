package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every figure comes from an existing benchmark or test in the package of its job, and so does
// its divisor.
func TestEveryFigureHasItsSource(t *testing.T) {
	functions := map[string]map[string]bool{}
	for _, j := range jobs() {
		functions[j.name] = testFunctions(t, filepath.Join("..", j.pkg))
	}
	for _, f := range figures() {
		if !functions[f.value.job][f.value.function()] {
			t.Errorf("%s: %s has no %s", f.name, f.value.job, f.value.function())
		}
		if f.over != nil && (f.over.job != f.value.job || f.over.function() != f.value.function()) {
			t.Errorf("%s: is divided by another function's value", f.name)
		}
	}
}

// testFunctions returns the names of the functions in a package's test files.
func testFunctions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", dir, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// docs/performance.md has a row for each figure, with the budget that is checked here.
func TestThePageHasEveryFigureAndItsBudget(t *testing.T) {
	page, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures() {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(f.name) + ` \| [^|]+ \| ` + regexp.QuoteMeta(shown(f.budget, f.unit)) + ` \|`)
		if !row.Match(page) {
			t.Errorf("docs/performance.md lacks a row %q with the budget %s", f.name, shown(f.budget, f.unit))
		}
	}
}

func TestOutputOfGoTestIsRead(t *testing.T) {
	m := measurements{}
	m.read("j", `goos: linux
BenchmarkA
BenchmarkA-2   	       5	       332.0 ours-ms	         0.8309 ratio
BenchmarkA-2   	       5	       300.0 ours-ms	         0.5 ratio
BenchmarkA-2   	       5	       310.0 ours-ms	         0.9 ratio
BenchmarkB/common-literal-2  	   10	  2000000 ns/op	  3 B/op
--- SKIP: BenchmarkC
    search_test.go:140: fd is not installed
=== RUN   TestD
=== ATTR  TestD bytes 11664
--- PASS: TestD (0.00s)
`)
	m.skip("k", "", "only on Linux")
	for _, c := range []struct {
		f    figure
		want float64
		why  string
	}{
		{figure{value: value{"j", "BenchmarkA", "ratio"}}, 0.8309, ""},
		{figure{value: value{"j", "BenchmarkA", "ours-ms"}}, 310, ""},
		{figure{value: value{"j", "BenchmarkB/common-literal", "ns/op"}, scale: 1e-6}, 2, ""},
		{figure{value: value{"j", "BenchmarkA", "ours-ms"}, over: &value{"j", "BenchmarkB/common-literal", "B/op"}}, 310.0 / 3, ""},
		{figure{value: value{"j", "BenchmarkC/x", "ratio"}}, 0, "fd is not installed"},
		{figure{value: value{"j", "TestD", "bytes"}}, 11664, ""},
		{figure{value: value{"j", "BenchmarkZ", "ratio"}}, 0, "not measured"},
		{figure{value: value{"k", "BenchmarkZ", "ratio"}}, 0, "only on Linux"},
	} {
		if n, why := m.result(c.f); n != c.want || why != c.why {
			t.Errorf("%v: %v, %q; want %v, %q", c.f.value, n, why, c.want, c.why)
		}
	}
}

func TestTableSaysWhatIsOverItsBudget(t *testing.T) {
	rows := []figure{
		{name: "start", unit: "ms", budget: 6, value: value{"j", "A", "ms"}},
		{name: "ratio", unit: "×", budget: 1.15, value: value{"j", "B", "ratio"}},
		{name: "gone", unit: "ms", budget: 2, value: value{"j", "C", "ms"}},
	}
	m := measurements{}
	m.add(rows[0].value, "5.4321")
	m.add(rows[1].value, "1.276")
	var table, page bytes.Buffer
	printTable(&table, rows, m, false)
	printTable(&page, rows, m, true)
	want := "figure  measured      budget  ok\nstart   5.43 ms       6 ms    yes\nratio   1.28 ×        1.15 ×  no\ngone    not measured  2 ms    –\n"
	if table.String() != want {
		t.Errorf("the table is\n%s", table.String())
	}
	if !strings.Contains(page.String(), "| start | 5.43 ms | 6 ms | yes |\n") {
		t.Errorf("the page has\n%s", page.String())
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for n, want := range map[float64]string{0: "0 x", 5: "5 x", 1.5: "1.5 x", 11675: "11675 x", 123.456: "123 x", 0.0060123: "0.0060 x", 1.1: "1.1 x", 0.004: "0.0040 x"} {
		if got := shown(n, "x"); got != want {
			t.Errorf("%s is shown as %q, not %q", fmt.Sprint(n), got, want)
		}
	}
}

// The documentation calls this command with valid arguments.
func TestCommandLinesInTheDocsAreTaken(t *testing.T) {
	found := 0
	for _, page := range []string{"../README.md", "../CONTRIBUTING.md", "../docs/performance.md", "doc.go"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("go run ./bench([^#`\\n]*)").FindAllStringSubmatch(string(text), -1) {
			found++
			o, err := parse(strings.Fields(strings.ReplaceAll(m[1], "'", "")), io.Discard)
			if err != nil {
				t.Errorf("%s: %s: %v", page, m[0], err)
			} else if rows, wanted := choose(figures(), jobs(), o.only); len(rows) == 0 || len(wanted) == 0 {
				t.Errorf("%s: %s measures nothing", page, m[0])
			}
		}
	}
	if found < 5 {
		t.Errorf("found %d", found)
	}
}
