package tui

import (
	"jcode/internal/cells"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// welcome returns the first item of a transcript.
func (p *composer) welcome() *transcript.Fixed {
	version, cwd, home := p.opt.Version, p.opt.Cwd, p.opt.Home
	help := p.keys.First(look.Help)
	return &transcript.Fixed{Plain: "jcode " + version, Draw: func(l *look.Look) []string {
		lines := []string{cells.Render(look.Clip([]cells.Span{
			{Text: "jcode", Style: l.Theme.Strong.With(l.Theme.Accent)}, {Text: " " + version, Style: l.Theme.Faint},
		}, l.Width))}
		if cwd != "" {
			lines = append(lines, cells.Paint(l.Theme.Faint, cells.FitStart(look.ShortPath(cwd, home), l.Width)))
		}
		tip := "/ commands · @ files · ! shell · " + help + " help"
		return append(lines, cells.Paint(l.Theme.Faint, cells.Fit(tip, l.Width)))
	}}
}
