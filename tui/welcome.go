package tui

import (
	"jcode/internal/cells"
)

// welcome returns the first item of a transcript.
func (p *composer) welcome() *textItem {
	version, cwd, home := p.opt.Version, p.opt.Cwd, p.opt.Home
	help := p.keys.first(actHelp)
	return &textItem{plain: "jcode " + version, draw: func(l *look) []string {
		lines := []string{cells.Render(clip([]cells.Span{
			{Text: "jcode", Style: l.theme.Strong.With(l.theme.Accent)}, {Text: " " + version, Style: l.theme.Faint},
		}, l.width))}
		if cwd != "" {
			lines = append(lines, cells.Paint(l.theme.Faint, cells.FitStart(shortPath(cwd, home), l.width)))
		}
		tip := "/ commands · @ files · ! shell · " + help + " help"
		return append(lines, cells.Paint(l.theme.Faint, cells.Fit(tip, l.width)))
	}}
}
