package main

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every row of the table of threats names tests, and they exist.
func TestThreatsInTheDocsHaveTheirTests(t *testing.T) {
	page, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, f := range houseFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				tests[fn.Name.Name] = true
			}
		}
	}
	_, table, _ := strings.Cut(string(page), "| --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	name := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	rows := 0
	for _, row := range strings.Split(table, "\n") {
		if strings.HasPrefix(row, "| **") {
			continue // a heading
		}
		rows++
		found := name.FindAllStringSubmatch(row, -1)
		if len(found) == 0 {
			t.Errorf("no test shows: %s", row)
		}
		for _, m := range found {
			if !tests[m[1]] {
				t.Errorf("there is no %s: %s", m[1], row)
			}
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
}
