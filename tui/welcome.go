package tui

import (
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/front"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// welcome returns the first item of a transcript.
func welcome(opt *front.Options, s *scene, t *talk) *transcript.Fixed {
	version, cwd, home, around := opt.Version, opt.Cwd, opt.Home, &t.around
	help := s.keys.First(look.Help)
	return &transcript.Fixed{Plain: "jcode " + version, Draw: func(l *look.Look) []string {
		faint := func(s string) string { return cells.Paint(l.Theme.Faint, cells.Fit(s, l.Width)) }
		lines := []string{cells.Render(look.Clip([]cells.Span{
			{Text: "jcode", Style: l.Theme.Strong.With(l.Theme.Accent)}, {Text: " " + version, Style: l.Theme.Faint},
		}, l.Width))}
		about, last := "", ""
		if around.project != nil {
			about, last = aboutProject(*around.project, l)
		}
		if cwd != "" {
			lines = append(lines, cells.Paint(l.Theme.Faint, cells.FitStart(look.ShortPath(cwd, home), max(l.Width-cells.Width(about), 1))+about))
		}
		if last != "" {
			lines = append(lines, faint(last))
		}
		return append(lines, faint("/ commands · @ files · ! shell · "+help+" help"))
	}}
}

// aboutProject says what is known of a project: in the row of its folder, and its last session in a row below.
func aboutProject(pr front.Project, l *look.Look) (about, last string) {
	if pr.Branch != "" {
		about = "  (" + look.OneLine(pr.Branch) + ")"
	}
	if pr.Instructions != "" {
		about += "  " + look.OneLine(pr.Instructions)
	} else {
		about += "  no AGENTS.md: /init writes one"
	}
	if pr.Last != "" {
		const key = "  jcode -c"
		last = front.Age(l.Now.Sub(pr.LastAt)) + ": "
		last += cells.Fit(look.OneLine(text.Clean(pr.Last)), max(l.Width-cells.Width(last)-len(key), 1)) + key
	}
	return cells.Fit(about, max(l.Width-8, 1)), last
}
