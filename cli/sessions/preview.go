package sessionscli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// previewMessages is how far back a preview looks.
const previewMessages = 40

// Preview shows what a session was last about: the line that a search found, the last
// prompt, how the answer ends, the files that were changed.
func (a Contents) Preview(ctx context.Context, id, query string) (string, error) {
	row, err := a.Store.Get(ctx, id)
	if err != nil {
		return "", err
	}
	rows, err := a.Store.History().In(ctx, id, session.Window{Last: previewMessages})
	if err != nil {
		return "", err
	}
	var lines []string
	if strings.TrimSpace(query) != "" {
		hits, err := a.Store.Search(ctx, query, row.ProjectID, 0)
		if err != nil {
			return "", err
		}
		if i := slices.IndexFunc(hits, func(h session.Hit) bool { return h.Session.ID == id && h.Seq > 0 }); i >= 0 {
			lines = append(lines, "found: "+hits[i].Snippet)
		}
	}
	prompt, answer, files := lastExchange(rows)
	if prompt != "" {
		lines = append(lines, "› "+text.Cut(prompt, 200))
	}
	if answer != "" {
		lines = append(lines, answer)
	}
	if len(files) > 0 {
		lines = append(lines, "changed: "+strings.Join(files, ", "))
	}
	return strings.Join(append(lines, row.Cwd), "\n"), nil
}

// lastExchange returns the last prompt, the last lines of the answer, and the files that
// tools changed.
func lastExchange(rows []session.Message) (prompt, answer string, files []string) {
	const answerLines = 3
	for _, m := range rows {
		switch m.Role {
		case session.RoleUser:
			if s := text.Headline(m.Shown()); s != "" {
				prompt, answer = s, ""
			}
		case session.RoleAssistant:
			if s := strings.TrimSpace(m.Text()); s != "" {
				last := strings.Split(s, "\n")
				answer = strings.Join(last[max(len(last)-answerLines, 0):], "\n")
			}
		}
		for _, c := range m.Calls {
			var d tools.Display
			if len(c.Display) > 0 && json.Unmarshal(c.Display, &d) == nil && d.Diff != "" && !slices.Contains(files, d.Path) {
				files = append(files, d.Path)
			}
		}
	}
	return prompt, answer, files
}
