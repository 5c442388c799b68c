package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// ARCHITECTURE.md and CONTRIBUTING.md name files and folders that there are, and the map
// has every room of the house.
func TestTheMapShowsTheHouseAsItIs(t *testing.T) {
	path := regexp.MustCompile("`([a-z_.]+/[A-Za-z0-9_./-]*)[`:]")
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range path.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
		if page != "ARCHITECTURE.md" {
			continue
		}
		_, table, _ := strings.Cut(string(data), "| room | owns |")
		table, _, _ = strings.Cut(table, "\n\n")
		for room := range allowed {
			if room != "" && !strings.Contains(table, "`"+room+"/`") {
				t.Errorf("the table of %s lacks %s", page, room)
			}
		}
	}
}
