package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/frontmatter"
	"jcode/internal/text"
	"jcode/tools"
)

const (
	maxBody  = 48 << 10 // bytes of a body that are returned at once
	maxFiles = 40       // files of a skill that are listed
)

// Loaded is a skill with its text, in the form for a model.
type Loaded struct {
	Skill Skill
	// Body is the text below the front matter.
	Body string
	// Files are the skill's further files, relative to its folder, the first few.
	Files []string
	// More says that there are further ones.
	More bool
	// Text is the whole text for the model: base folder, body, files.
	Text string
}

// Load reads a skill's text from disk as it is now. If it has changed, the registry is updated.
// For an unknown name the error lists the known ones.
func (r *Registry) Load(name string) (Loaded, error) {
	sk, ok := r.Get(name)
	if !ok {
		r.Refresh() // it may have been written a moment ago
		if sk, ok = r.Get(name); !ok {
			return Loaded{}, r.unknown(name)
		}
	}
	if sk.Source.Dir == "" {
		return r.loadBuiltin(sk)
	}
	data, err := r.opts.Places.read(sk.Source, sk.File)
	if err != nil {
		r.refreshFiles([]string{sk.File})
		return Loaded{}, tools.Errorf(tools.KindIO, "%s %v", sk.File, err)
	}
	if hash(data) != sk.Hash {
		r.refreshFiles([]string{sk.File})
		e := parse(data, sk.File, sk.Source)
		if e.State == Broken {
			return Loaded{}, tools.Errorf(tools.KindLoad, "the skill %s cannot be used: %s", sk.Name, firstOf(e.Diagnostics, e.File))
		}
		e.Name = sk.Name
		sk = e.Skill
	}
	r.sayHooks(sk)
	l := Loaded{Skill: sk, Body: frontmatter.Parse(data).Body}
	l.Files, l.More = listFiles(os.DirFS(sk.Dir))
	l.compose()
	return l, nil
}

// sayHooks tells the person once that a skill which is used has hooks: one of them may be a guard.
func (r *Registry) sayHooks(sk Skill) {
	if !sk.Hooks || r.opts.Notice == nil {
		return
	}
	if _, said := r.hooksSaid.LoadOrStore(sk.File, true); !said {
		r.opts.Notice(fmt.Sprintf("the skill %s has hooks, which are not run here: write them below `hooks` in a settings file or a role (%s)", sk.Name, sk.File))
	}
}

func (r *Registry) unknown(name string) error {
	for _, e := range r.Entries() {
		if e.Name != name {
			continue
		}
		switch e.State {
		case Disabled:
			return tools.Errorf(tools.KindDenied, "the skill %s is disabled by the user", name)
		case Broken:
			return tools.Errorf(tools.KindLoad, "the skill %s cannot be used: %s", name, firstOf(e.Diagnostics, e.File))
		default: // another skill of that name is in use, and would have been found
		}
	}
	names := make([]string, 0, len(r.state().active))
	for _, sk := range r.List() {
		names = append(names, sk.Name)
	}
	if len(names) == 0 {
		return tools.Errorf(tools.KindInvalidArgs, "there is no skill %q; no skills are installed", name)
	}
	return tools.Errorf(tools.KindInvalidArgs, "there is no skill %q; there are: %s", name, some(names))
}

// compose builds the text for the model.
func (l *Loaded) compose() {
	var b strings.Builder
	fmt.Fprintf(&b, "<skill name=%q", l.Skill.Name)
	if l.Skill.Dir != "" {
		fmt.Fprintf(&b, " folder=%q", l.Skill.Dir)
	}
	b.WriteString(">\n")
	body := strings.TrimSpace(l.Body)
	if cut, is := text.CutMark(body, maxBody, ""); is {
		line := 1 + strings.Count(cut, "\n")
		body = cut + fmt.Sprintf("\n[… cut here at line %d of the instructions; read the rest of %s with `read` …]", line, l.Skill.File)
	}
	b.WriteString(body)
	b.WriteString("\n</skill>\n")
	if l.Skill.Dir != "" {
		example := skillFile
		if len(l.Files) > 0 {
			example = l.Files[0]
		}
		b.WriteString("Relative paths in these instructions are below the skill's folder: write them as absolute paths, for example ")
		b.WriteString(filepath.Join(l.Skill.Dir, example))
		b.WriteString(" .\n")
	}
	if len(l.Files) > 0 {
		b.WriteString("Files of the skill: " + strings.Join(l.Files, ", "))
		if l.More {
			b.WriteString(" and more")
		}
		b.WriteString("\n")
	}
	l.Text = b.String()
}

// listFiles returns the first files of a skill's folder, at most three folders deep.
func listFiles(dir fs.FS) (files []string, more bool) {
	entries := 0
	stop := errors.New("enough")
	var walk func(path string, depth int) error
	walk = func(path string, depth int) error {
		list, err := readSome(dir, path, 500)
		if err != nil {
			return nil // what cannot be read is not listed
		}
		for _, e := range list {
			if entries++; entries > 2000 || len(files) >= maxFiles {
				return stop
			}
			name := strings.TrimPrefix(path+"/"+e.Name(), "./")
			switch {
			case skipFolder(e.Name()) || path == "." && strings.EqualFold(e.Name(), skillFile):
			case e.Type().IsRegular():
				files = append(files, filepath.FromSlash(name))
			case e.IsDir() && depth < 3:
				if err := walk(name, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	more = walk(".", 1) != nil
	return files, more
}

// readSome reads at most n entries of a folder, sorted.
func readSome(dir fs.FS, path string, n int) ([]fs.DirEntry, error) {
	f, err := dir.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, fs.ErrInvalid
	}
	list, err := d.ReadDir(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}
