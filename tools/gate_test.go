package tools

import "testing"

func TestAQuestionIsHeadedInWordsForPeople(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]Question{
		"Run a command":                    {Title: "Run a command", Tool: "exec"},
		"exec":                             {Tool: "exec"},
		"Run the tool word_count":          {Title: "Execute intent: word_count"},
		"tester: Run the tool mcp:db:list": {Label: "tester", Title: "Execute intent: mcp:db:list"},
	} {
		if got := q.Heading(); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
}
