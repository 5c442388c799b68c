package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// One method that is looked up by name makes the linker keep all exported methods of all types: megabytes.
func TestNothingLooksMethodsUpByName(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w -dumpdep", "-o", filepath.Join(t.TempDir(), "jcode"), "..")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out[:min(len(out), 2000)])
	}
	kept := 0
	for line := range strings.Lines(string(out)) {
		kept++
		from, to, _ := strings.Cut(line, " -> ")
		if strings.Contains(to, "<ReflectMethod>") {
			t.Errorf("%s calls %s", from, to)
		}
	}
	if kept < 10_000 {
		t.Errorf("the linker's list has only %d lines", kept)
	}
}
