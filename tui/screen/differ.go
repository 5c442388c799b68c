package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
)

// differ finds the bytes that turn one screen into another.
type differ struct {
	old, now []string // lines with styles; old is nil if the screen is unknown
	width    int
	region   int // the upper lines, which may move together; 0 = all
	// margins is how many upper lines the terminal scrolls; 0 if unknown.
	margins int
	b       strings.Builder
}

// draw returns the bytes; none if nothing differs.
func (d *differ) draw() string {
	if len(d.old) != len(d.now) {
		d.b.WriteString("\x1b[m" + wholeScreen + "\x1b[H" + ansi.EraseEntireScreen)
		d.old, d.margins = make([]string, len(d.now)), len(d.now)
	}
	if d.region <= 0 || d.region > len(d.now) {
		d.region = len(d.now)
	}
	if n := d.moved(); n != 0 {
		d.scroll(n, d.region)
	}
	for y := range d.now {
		if d.old[y] != d.now[y] {
			d.line(y)
		}
	}
	return d.b.String()
}

// wholeScreen makes the whole screen scroll again.
const wholeScreen = "\x1b[r"

// moveTo puts the cursor on a cell; both count from 0.
func moveTo(x, y int) string {
	switch {
	case x > 0:
		return "\x1b[" + strconv.Itoa(y+1) + ";" + strconv.Itoa(x+1) + "H"
	case y > 0:
		return "\x1b[" + strconv.Itoa(y+1) + "H"
	}
	return "\x1b[H"
}

// maxScroll is the largest move that is looked for, in lines.
const maxScroll = 40

// moved finds by how many lines the upper region of the screen moved: n lines up, or down if n is negative. A
// move must save several lines.
func (d *differ) moved() (n int) {
	first, last := len(d.now), 0
	for y := range d.region {
		if d.old[y] != d.now[y] {
			first, last = min(first, y), y
		}
	}
	if last-first < 4 {
		return 0
	}
	best := 3
	for shift := 1; shift <= min(maxScroll, d.region-2); shift++ {
		for _, s := range [2]int{shift, -shift} {
			if saved := d.saves(s); saved > best {
				best, n = saved, s
			}
		}
	}
	return n
}

// saves returns how many lines a move by s lines puts in place, minus those that it displaces.
func (d *differ) saves(s int) int {
	saved := 0
	for y := range d.region {
		stays := d.old[y] == d.now[y]
		from := y + s
		comes := from >= 0 && from < d.region && d.old[from] == d.now[y]
		switch {
		case d.now[y] == "":
		case comes && !stays:
			saved++
		case stays && !comes:
			saved--
		}
	}
	return saved
}

// scroll moves the first rows lines by n. The terminal keeps its margins: everything else here is positioned
// by row and column, which they do not affect.
func (d *differ) scroll(n, rows int) {
	moved := append([]string(nil), d.old...)
	for y := range rows {
		moved[y] = ""
		if from := y + n; from >= 0 && from < rows {
			moved[y] = d.old[from]
		}
	}
	d.old = moved
	if d.margins != rows {
		d.margins = rows
		d.b.WriteString("\x1b[1;" + strconv.Itoa(rows) + "r")
	}
	if n > 0 {
		d.b.WriteString(ansi.ScrollUp(n))
	} else {
		d.b.WriteString(ansi.ScrollDown(-n))
	}
}

// line rewrites the part of a line that differs.
func (d *differ) line(y int) {
	old, now := d.old[y], d.now[y]
	width := ansi.StringWidth(now)
	if width > d.width {
		now = ansi.Truncate(now, d.width, "")
		width = ansi.StringWidth(now)
		d.now[y] = now
		if now == old {
			return
		}
	}
	at, col, style, sure := commonStart(old, now)
	if !sure { // a terminal may measure it differently: the position is not relied upon
		d.b.WriteString(moveTo(0, y) + "\x1b[m" + ansi.EraseLineRight + ansi.ResetModeAutoWrap + now + "\x1b[m" + ansi.SetModeAutoWrap)
		return
	}
	oldWidth := ansi.StringWidth(old)
	part := now[at:]
	if oldWidth == width {
		part = part[:len(part)-commonEnd(old, part)]
	}
	d.b.WriteString(moveTo(col, y))
	d.b.WriteString(style)
	d.b.WriteString(part)
	if styled(style + part) {
		d.b.WriteString("\x1b[m")
	}
	if oldWidth > width {
		d.b.WriteString(ansi.EraseLineRight)
	}
}

// styled reports whether a style is still in force after a text.
func styled(s string) bool {
	i := strings.LastIndex(s, "\x1b[")
	return i >= 0 && !strings.HasPrefix(s[i:], "\x1b[m")
}

// commonEnd returns how many bytes at the end of a line need not be written because they are already there:
// from a reset on, after which both lines are equal. The lines must be equally wide.
func commonEnd(old, now string) int {
	n := 0
	for n < len(old) && n < len(now) && old[len(old)-1-n] == now[len(now)-1-n] {
		n++
	}
	end := now[len(now)-n:]
	i := strings.Index(end, "\x1b[m")
	if i < 0 {
		return 0
	}
	return len(end) - i - len("\x1b[m") // the reset itself is written
}

// commonStart finds how far two lines are equal: the offset in now and the column at which to continue, and
// the escape sequences in force there. sure is false if a line contains characters that terminals measure
// differently.
func commonStart(old, now string) (at, col int, style string, sure bool) {
	common := 0
	for limit := min(len(old), len(now)); common < limit && old[common] == now[common]; common++ {
	}
	pos, x := 0, 0
	var sgr string
	for pos < len(now) {
		if now[pos] == 0x1b {
			n, isSGR := escapeAt(now[pos:])
			if !isSGR {
				common = min(common, pos) // a hyperlink: begin before it
			}
			if pos+n <= common {
				if now[pos:pos+n] == "\x1b[m" {
					sgr = ""
				} else {
					sgr += now[pos : pos+n]
				}
				at, col, style = pos+n, x, sgr
			}
			pos += n
			continue
		}
		c, w := cells.Next(now[pos:])
		if !steady(c, w) {
			return 0, 0, "", false
		}
		pos += len(c)
		x += w
		if pos <= common && (pos == common && len(old) == pos || pos < len(old) && !joins(old[pos:])) {
			at, col, style = pos, x, sgr
		}
	}
	return at, col, style, steadyText(old[min(common, len(old)):])
}

// joins reports whether a text begins with a character that combines with the one before it.
func joins(s string) bool {
	if s == "" || s[0] < utf8.RuneSelf {
		return false
	}
	c, _ := cells.Next("a" + s)
	return len(c) > 1
}

// steady reports whether all terminals agree on the width of a cluster.
func steady(cluster string, width int) bool {
	if len(cluster) == 1 {
		return true
	}
	r, n := utf8.DecodeRuneInString(cluster)
	return n == len(cluster) && width > 0 && r < 0x1f000
}

func steadyText(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		c, w := cells.Next(s[i:])
		if !steady(c, w) {
			return false
		}
		i += len(c)
	}
	return true
}

// escapeAt measures the escape sequence at the start of s and reports whether it sets a style.
func escapeAt(s string) (n int, sgr bool) {
	if len(s) < 2 {
		return len(s), false
	}
	if s[1] == '[' {
		for n = 2; n < len(s); n++ {
			if s[n] >= 0x40 && s[n] <= 0x7e {
				return n + 1, s[n] == 'm'
			}
		}
		return len(s), false
	}
	if i := strings.Index(s, "\x1b\\"); i > 0 {
		return i + 2, false
	}
	return len(s), false
}
