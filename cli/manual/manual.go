// Package manual finds a place in the manual: a page by its name, a section by its heading, or what fits words best.
package manual

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"jcode/internal/passage"
	"jcode/internal/pattern"
	"jcode/internal/ranking"
	"jcode/internal/text"
)

// Page is a page of the manual.
type Page struct {
	Name  string // of its file, without the extension
	Title string
	Text  string // Markdown, links to pages included
}

// Manual is all pages, by their names.
type Manual struct{ pages []Page }

// Read reads the pages of a folder.
func Read(files fs.FS) (Manual, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return Manual{}, fmt.Errorf("manual: %w", err)
	}
	var m Manual
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return Manual{}, fmt.Errorf("manual: %w", err)
		}
		body := string(data)
		title, _, _ := strings.Cut(strings.TrimPrefix(body, "# "), "\n")
		m.pages = append(m.pages, Page{Name: strings.TrimSuffix(name, ".md"), Title: title, Text: body})
	}
	return m, nil
}

// Contents is the name of the page that leads to all others.
const Contents = "README"

// Names returns the names of the pages, but for the contents.
func (m Manual) Names() []string {
	var out []string
	for _, p := range m.pages {
		if p.Name != Contents {
			out = append(out, p.Name)
		}
	}
	return out
}

// Named returns what a topic names exactly: a page by its name or title, or the sections with this heading. Upper and
// lower case, and hyphens and spaces, are the same.
func (m Manual) Named(topic string) (markdown string, ok bool) {
	topic = plain(topic)
	for _, p := range m.pages {
		if topic == plain(p.Name) || topic == plain(p.Title) {
			return cleaned(p.Text), true
		}
	}
	var all strings.Builder
	for _, p := range m.pages {
		if s := section(p.Text, topic); s != "" {
			fmt.Fprintf(&all, "%s\n*From the page `%s`.*\n\n", strings.TrimSpace(cleaned(s)), p.Name)
		}
	}
	return all.String(), all.Len() > 0
}

// Found is a place that fits words.
type Found struct {
	Page, Heading string
	Excerpt       string // one line
}

// maxExcerpt bounds what is shown of a place that was found, in bytes.
const maxExcerpt = 200

// Search returns the places that fit words best, the best first and one for each heading.
func (m Manual) Search(words string, limit int) []Found {
	var texts []ranking.Text
	var places []Found
	for _, p := range m.pages {
		for _, part := range passage.Split(p.Name+".md", p.Text) {
			places = append(places, Found{Page: p.Name, Heading: strings.TrimPrefix(part.Heading, p.Title+" › "), Excerpt: part.Text})
			texts = append(texts, ranking.Text{ID: int64(len(texts)), Place: p.Name, Heading: part.Heading, Body: part.Text, Fitness: 1})
		}
	}
	var out []Found
	seen := map[string]bool{}
	for _, hit := range ranking.Search(words, texts, 4*limit) {
		f := places[hit.ID]
		if key := f.Page + "\n" + f.Heading; seen[key] || len(out) == limit {
			continue
		} else {
			seen[key] = true
		}
		f.Excerpt = text.Ellipsis(excerpt(f.Excerpt, words), maxExcerpt)
		out = append(out, f)
	}
	return out
}

// excerpt returns the line of a passage that has most of the words.
func excerpt(body, words string) string {
	stems := map[string]bool{}
	ranking.Each(words, func(w string) { stems[ranking.Stem(w)] = true })
	best, most := "", 0
	for line := range strings.Lines(cleaned(body)) {
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "|"))
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "---") {
			continue
		}
		if best == "" {
			best = line // where only related words are found
		}
		n := 0
		ranking.Each(line, func(w string) {
			if stems[ranking.Stem(w)] {
				n++
			}
		})
		if n > most {
			best, most = line, n
		}
	}
	return best
}

// section returns the part of a page under a heading, with what is below it.
func section(body, topic string) string {
	var out strings.Builder
	level, fenced := 0, false
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if depth := len(line) - len(strings.TrimLeft(line, "#")); !fenced && depth > 1 && strings.HasPrefix(line[depth:], " ") {
			switch {
			case level == 0 && plain(line[depth:]) == topic:
				level = depth
			case level > 0 && depth <= level:
				return out.String()
			}
		}
		if level > 0 {
			out.WriteString(line)
		}
	}
	return out.String()
}

var (
	picture = pattern.Lazy(`(?m)^!\[[^\]]*\]\([^)]*\)\n?`)
	comment = pattern.Lazy(`(?s)<!--.*?-->\n?`)
	link    = pattern.Lazy(`\[([^\]]+)\]\(([^)#:]*)(#[^)]*)?\)`)
)

// cleaned returns a page as it is read in a terminal: without pictures and comments, and with the names of pages where
// links lead to them.
func cleaned(body string) string {
	body = comment().ReplaceAllString(picture().ReplaceAllString(body, ""), "")
	return link().ReplaceAllStringFunc(body, func(s string) string {
		m := link().FindStringSubmatch(s)
		name, isPage := strings.CutSuffix(path.Base(m[2]), ".md")
		if !isPage || strings.EqualFold(name, m[1]) || strings.HasPrefix(m[2], "..") {
			return m[1]
		}
		return m[1] + " (" + name + ")"
	})
}

// plain returns what of a heading counts when it is looked up.
func plain(s string) string {
	s = strings.NewReplacer("-", " ", "`", "", "*", "").Replace(strings.ToLower(s))
	return strings.Join(strings.Fields(s), " ")
}
