package notes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/diff"
	"jcode/internal/ranking"
	"jcode/internal/secret"
	"jcode/internal/text"
)

// maxText bounds the text of a note that is added, in bytes.
const maxText = 500

// New is a note to add.
type New struct {
	Text  string
	Topic string
	About About
	By    Author
	From  Origin
	// Files are what it depends on, relative to the project's root.
	Files []string
	// Replaces is the ID of the note that it takes the place of, "" for none.
	Replaces string
}

// Change is what adding a note does.
type Change struct {
	Note Note
	// Same is set if a note says so already: nothing is added.
	Same *Note
	// Replaced is the note that it takes the place of.
	Replaced *Note
	// Against are earlier notes that may say something else of the same.
	Against []Note
	// Diff is the unified diff of the topic's file.
	Diff string
}

// ErrSecret says why a text is no note.
var ErrSecret = errors.New("it contains what looks like a key, a token or a password: secrets are never kept as notes. Leave it out, or say where it is kept instead")

// check returns the note that a New means.
func (s *Store) check(in New) (Note, error) {
	n := Note{Text: text.OneLine(strings.TrimLeft(strings.TrimSpace(in.Text), "-*+ \t")), Topic: Slug(in.Topic), About: in.About, By: in.By, From: in.From, Since: s.today()}
	if n.About != User {
		n.About = Project
	}
	switch {
	case n.Text == "":
		return n, errors.New("the text is empty: say in a short sentence what will still hold next month")
	case len(n.Text) > maxText:
		return n, fmt.Errorf("the text has %d bytes, a note has at most %d: say it shorter, or make several notes", len(n.Text), maxText)
	case secret.Value(n.Text) || slices.ContainsFunc(strings.Fields(n.Text), secret.Value):
		return n, ErrSecret
	}
	var err error
	if n.Depends, err = s.depend(in.Files); err != nil {
		return n, err
	}
	n.ID = noteID(n.About, n.Topic, n.Text)
	return n, nil
}

// prepare works out what adding a note to a book does. It returns the file to write.
func (s *Store) prepare(b book, in New) (c Change, path string, f file, err error) {
	if c.Note, err = s.check(in); err != nil {
		return c, "", f, err
	}
	path = filepath.Join(s.Folder(b.about), c.Note.Topic+".md")
	for _, p := range b.problems {
		if p.File == path {
			return c, path, f, fmt.Errorf("%s can't be added to: %s", path, p.Text)
		}
	}
	all := b.notes()
	for _, n := range all {
		switch {
		case in.Replaces != "" && n.ID == in.Replaces:
			old := *n
			c.Replaced = &old
		case sameWords(n.Text, c.Note.Text):
			same := *n
			c.Same = &same
			return c, path, f, nil
		case aboutTheSame(n.Text, c.Note.Text):
			c.Against = append(c.Against, *n)
		}
	}
	if in.Replaces != "" && c.Replaced == nil {
		return c, path, f, fmt.Errorf("replaces: %q: %w: leave it out, or take the ID from recall", in.Replaces, ErrUnknown)
	}
	if len(all) >= maxNotes {
		return c, path, f, fmt.Errorf("there are %d notes, the most that are kept: the user must forget some first (/memory)", len(all))
	}
	before := ""
	for _, t := range b.topics {
		if t.path == path {
			f, before = t.file, t.file.String()
		}
	}
	f = f.with(c.Note, c.Replaced)
	if len(f.String()) > maxFile {
		return c, path, f, fmt.Errorf("the topic %s is full: choose a narrower one", c.Note.Topic)
	}
	old, now := &before, f.String()
	if before == "" {
		old = nil
	}
	c.Diff = diff.Files(filepath.Join(filepath.Base(s.Folder(b.about)), c.Note.Topic+".md"), old, &now).Text
	return c, path, f, nil
}

// with returns the file with a note added, in the place of another one if that is in it.
func (f file) with(n Note, replaced *Note) file {
	added := block{raw: n.write(false), note: &n}
	out := file{blocks: slices.Clone(f.blocks)}
	if replaced != nil && replaced.Topic == n.Topic {
		for i, b := range out.blocks {
			if b.note != nil && b.note.ID == replaced.ID {
				out.blocks[i] = added
				return out
			}
		}
	}
	if len(out.blocks) == 0 {
		out.blocks = append(out.blocks, block{raw: "# " + n.Topic + "\n\n"})
	} else if last := &out.blocks[len(out.blocks)-1]; !strings.HasSuffix(last.raw, "\n") {
		last.raw += "\n"
	}
	out.blocks = append(out.blocks, added)
	return out
}

// Plan says what adding a note would do, and changes nothing.
func (s *Store) Plan(in New) (Change, error) {
	c, _, _, err := s.prepare(s.read(bookOf(in.About)), in)
	return c, err
}

func bookOf(about About) About {
	if about == User {
		return User
	}
	return Project
}

// Add adds a note, unless one says the same.
func (s *Store) Add(ctx context.Context, in New) (c Change, err error) {
	err = s.change(ctx, bookOf(in.About), func(b book) error {
		var path string
		var f file
		if c, path, f, err = s.prepare(b, in); err != nil || c.Same != nil {
			return err
		}
		if c.Replaced != nil && c.Replaced.File != path {
			if err := s.edit(b, c.Replaced.ID, nil); err != nil {
				return err
			}
		}
		return s.save(path, f)
	})
	return c, err
}

// edit replaces the note of an ID in its file by what change makes of it; nil removes it.
func (s *Store) edit(b book, id string, change func(n *Note)) error {
	for _, t := range b.topics {
		for i, part := range t.file.blocks {
			if part.note == nil || part.note.ID != id {
				continue
			}
			f := file{blocks: slices.Clone(t.file.blocks)}
			if change == nil {
				f.blocks = slices.Delete(f.blocks, i, i+1)
			} else {
				n := *part.note
				change(&n)
				f.blocks[i] = block{raw: n.write(false), note: &n}
			}
			return s.save(t.path, f)
		}
	}
	return fmt.Errorf("%q: %w", id, ErrUnknown)
}

// Forget removes a note, and returns it.
func (s *Store) Forget(ctx context.Context, id string) (Note, error) {
	n, err := s.Find(id)
	if err != nil {
		return n, err
	}
	return n, s.change(ctx, n.About, func(b book) error { return s.edit(b, n.ID, nil) })
}

// Mend gives a note another text, which is the user's.
func (s *Store) Mend(ctx context.Context, id, words string) (Note, error) {
	n, err := s.Find(id)
	if err != nil {
		return n, err
	}
	made, err := s.check(New{Text: words, Topic: n.Topic, About: n.About, By: ByUser, From: n.From})
	if err != nil {
		return n, err
	}
	return made, s.change(ctx, n.About, func(b book) error {
		return s.edit(b, n.ID, func(n *Note) { n.Text, n.By, n.Since = made.Text, ByUser, made.Since })
	})
}

// Used records that notes were used today. What can't be recorded is left as it is.
func (s *Store) Used(ctx context.Context, ids ...string) error {
	today := s.today()
	var errs []error
	for _, about := range []About{Project, User} {
		var mine []string
		for _, n := range s.read(about).notes() {
			if slices.Contains(ids, n.ID) && n.Used.Before(today) && filepath.Base(n.File) != indexName {
				mine = append(mine, n.ID)
			}
		}
		if len(mine) == 0 {
			continue
		}
		errs = append(errs, s.change(ctx, about, func(b book) error {
			for _, t := range b.topics {
				f, changed := file{blocks: slices.Clone(t.file.blocks)}, false
				for i, part := range f.blocks {
					if part.note == nil || !slices.Contains(mine, part.note.ID) {
						continue
					}
					n := *part.note
					n.Used, changed = today, true
					f.blocks[i] = block{raw: n.write(false), note: &n}
				}
				if changed {
					if err := s.save(t.path, f); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	return errors.Join(errs...)
}

// sameWords reports whether two texts have the same words in the same order.
func sameWords(a, b string) bool {
	words := func(s string) (out []string) {
		ranking.Each(s, func(w string) { out = append(out, w) })
		return out
	}
	return slices.Equal(words(a), words(b))
}

// aboutTheSame reports whether two texts have so many words in common that one may contradict the other.
func aboutTheSame(a, b string) bool {
	x, y := map[string]bool{}, map[string]bool{}
	for _, w := range ranking.Terms(a) {
		x[w] = true
	}
	for _, w := range ranking.Terms(b) {
		y[w] = true
	}
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	least := min(len(x), len(y))
	return both > 0 && float64(both) >= 0.6*float64(least)
}
