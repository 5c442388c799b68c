package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Two changes that met may both have taken the next number: the program would not start.
func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	list, err := os.ReadDir("session/migrations")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range list {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(f.Name(), want) {
			t.Errorf("session/migrations/%s should begin with %s: a number is taken twice or left out", f.Name(), want)
		}
	}
}
