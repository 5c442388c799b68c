package tour

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTheTourHasAnEndAndAnswersAfterIt(t *testing.T) {
	script, err := Script(Places{Program: `C:\jcode "x".exe`, Command: "jcode", Home: "/home", Board: "http://127.0.0.1:1/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := WithEnd(script)
	if err != nil {
		t.Fatal(err)
	}
	before, after := strings.Count(string(script), "\n"), strings.Split(strings.TrimSpace(string(whole)), "\n")
	if len(after) <= before {
		t.Errorf("%d lines of %d", len(after), before)
	}
	for i, line := range after {
		var answer struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		if ends := strings.Contains(answer.Text, End); ends != (i >= before-1) {
			t.Errorf("line %d: %q", i, answer.Text)
		}
	}
}
