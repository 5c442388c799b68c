package tui

import (
	"context"
	"slices"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/dialog"
	"jcode/tui/look"
)

// fileIndex holds what @ completes: the files of the folder, and other mentions.
type fileIndex struct {
	all      []string // files and folders, unchanged, then mentions
	low      []string // the same in lower case
	files    fileList
	mentions []command.Row
	loading  int  // lists being read
	loaded   bool // one has been read
	query    string
	hits     []int // indexes that match query, to narrow further
}

// fileMenu offers files and mentions for the word at the cursor; load rereads the lists if that is due: once
// per word.
func (p *completion) fileMenu(load bool) tea.Cmd {
	at, query, ok := p.in.Mention()
	if !ok || p.opt.Files == nil {
		return nil
	}
	query = strings.TrimPrefix(query, `"`)
	if isPath(query) {
		return p.pathMenu(at, query)
	}
	var cmd tea.Cmd
	if load && p.files.loading == 0 && (query == "" || !p.files.loaded) {
		cmd = p.readFiles()
	}
	if !p.files.loaded {
		return cmd
	}
	p.menu = menu{kind: menuFile, start: at}
	for _, i := range p.files.find(strings.ToLower(query)) {
		name := p.files.all[i]
		c := choice{insert: fileWord(name), name: look.VisibleName(name)}
		if n := i - len(p.files.files.all); n >= 0 {
			c.info = text.Clean(p.files.mentions[n].Info)
		}
		p.menu.choices = append(p.menu.choices, c)
	}
	if len(p.menu.choices) == 0 && query != "" && p.files.loading == 0 {
		p.menu.empty = "no file matches " + look.OneLine(text.Visible(query))
	}
	return cmd
}

// readFiles reads what @ completes. The list that arrives first is offered first.
func (p *completion) readFiles() tea.Cmd {
	arrived := func() tea.Cmd {
		p.files.loading--
		p.files.set(p.files.files, p.files.mentions)
		if p.menu.moved { // the person is choosing
			return nil
		}
		return p.fileMenu(false)
	}
	p.files.loading++
	read := func(ctx context.Context) (fileList, error) {
		files, err := p.opt.Files(ctx)
		return listFiles(files), err
	}
	files := dialog.Fetch(p, read, func(list fileList, err error) tea.Cmd {
		p.files.files = list
		if err != nil {
			p.Say(event.LevelWarn, "the files of this folder could not be listed: "+err.Error())
		}
		return arrived()
	})
	if p.opt.Mentions == nil {
		return files
	}
	p.files.loading++
	return tea.Batch(files, dialog.Fetch(p, p.opt.Mentions, func(list []command.Row, err error) tea.Cmd {
		p.files.mentions = list
		if err != nil {
			p.Say(event.LevelWarn, err.Error())
		}
		return arrived()
	}))
}

// fileWord writes a file as it is sent: @path, quoted if it contains white space.
func fileWord(name string) string {
	if strings.ContainsAny(name, " \t\"\n") {
		return `@"` + look.VisibleName(strings.ReplaceAll(name, `"`, `\"`)) + `" `
	}
	if strings.HasSuffix(name, "/") || strings.HasSuffix(name, "}") { // a folder, or a template to fill in
		return "@" + name
	}
	return "@" + name + " "
}

// fileList holds files and their folders, and the same in lower case.
type fileList struct{ all, low []string }

// listFiles adds the folders of files.
func listFiles(files []string) fileList {
	var f fileList
	seen := map[string]bool{}
	for _, name := range files {
		name = strings.ReplaceAll(name, `\`, "/")
		for i := 0; i < len(name); i++ {
			if name[i] == '/' && !seen[name[:i+1]] {
				seen[name[:i+1]] = true
				f.all = append(f.all, name[:i+1])
			}
		}
		f.all = append(f.all, name)
	}
	f.low = make([]string, len(f.all))
	for i, s := range f.all {
		f.low[i] = strings.ToLower(s)
	}
	return f
}

// set replaces files and mentions.
func (f *fileIndex) set(files fileList, mentions []command.Row) {
	f.files, f.mentions = files, mentions
	f.all, f.low = slices.Clip(files.all), slices.Clip(files.low)
	for _, r := range mentions {
		f.all, f.low = append(f.all, r.ID), append(f.low, strings.ToLower(r.ID))
	}
	f.loaded, f.query, f.hits = true, "", nil
}

// find returns the best matches. A query that extends the previous one only searches the matches of that one.
func (f *fileIndex) find(query string) []int {
	pool := f.hits
	if f.hits == nil || !strings.HasPrefix(query, f.query) {
		pool = make([]int, len(f.low))
		for i := range pool {
			pool[i] = i
		}
	}
	type scored struct{ i, score int }
	var best []scored
	kept := make([]int, 0, len(pool))
	for _, i := range pool {
		score, ok := dialog.Fuzzy(query, f.low[i])
		if !ok {
			continue
		}
		kept = append(kept, i)
		if n := len(best); n < look.FileChoices || score > best[n-1].score {
			at := sort.Search(n, func(k int) bool { return best[k].score < score })
			best = append(best, scored{})
			copy(best[at+1:], best[at:])
			best[at] = scored{i, score}
			best = best[:min(len(best), look.FileChoices)]
		}
	}
	f.query, f.hits = query, kept
	out := make([]int, len(best))
	for i, b := range best {
		out[i] = b.i
	}
	return out
}
