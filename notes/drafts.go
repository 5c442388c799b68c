package notes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// maxDrafts bounds the inbox.
const maxDrafts = 100

// Drafts lists what was proposed and waits for a person, with what can't be read.
func (s *Store) Drafts() ([]Note, []Problem) {
	path := filepath.Join(s.Folder(Project), inboxName)
	f, err := s.parse(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []Problem{{path, plain(err)}}
	}
	var out []Note
	for _, b := range f.blocks {
		if b.note == nil {
			continue
		}
		n := *b.note
		about, topic := bookOf(n.About), n.Topic
		if topic == "" {
			topic = general
		}
		out = append(out, *s.placed(n, about, topic, path, b.line))
	}
	return out, nil
}

// Draft adds proposals to the inbox, leaving out those that are notes or drafts already, and those that could be no
// note. It returns how many it added.
func (s *Store) Draft(ctx context.Context, list ...New) (added int, err error) {
	path := filepath.Join(s.Folder(Project), inboxName)
	err = s.change(ctx, Project, func(book) error {
		f, err := s.parse(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s can't be added to: %s", path, plain(err))
		}
		f = file{blocks: slices.Clone(f.blocks)}
		if len(f.blocks) == 0 {
			f.blocks = append(f.blocks, block{raw: "# Drafts\n\n<!-- Proposals, which are no notes yet: /memory accepts or drops them. -->\n\n"})
		}
		for _, n := range s.Fresh(list...) {
			added++
			f.blocks = append(f.blocks, block{raw: n.write(true), note: &n})
		}
		if added == 0 {
			return nil
		}
		return s.put(path, f.String())
	})
	return added, err
}

// Fresh returns the notes that Draft would add: those that are valid, no note or draft yet, and not too many.
func (s *Store) Fresh(list ...New) (fresh []Note) {
	known, _ := s.List()
	waiting, _ := s.Drafts()
	known = append(known, waiting...)
	for _, in := range list {
		n, err := s.check(in)
		same := func(k Note) bool { return sameWords(k.Text, n.Text) }
		if err != nil || slices.ContainsFunc(known, same) || len(waiting)+len(fresh) >= maxDrafts {
			continue
		}
		known, fresh = append(known, n), append(fresh, n)
	}
	return fresh
}

// take removes a draft from the inbox, and returns it.
func (s *Store) take(id string) (n Note, err error) {
	path := filepath.Join(s.Folder(Project), inboxName)
	list, _ := s.Drafts()
	at := slices.IndexFunc(list, func(n Note) bool { return n.ID == id })
	if at < 0 {
		return n, fmt.Errorf("%q: there is no such draft", id)
	}
	f, err := s.parse(path)
	if err != nil {
		return n, err
	}
	out := file{}
	for _, b := range f.blocks {
		if b.note == nil || b.line != list[at].Line {
			out.blocks = append(out.blocks, b)
		}
	}
	return list[at], s.saveInbox(path, out)
}

// saveInbox writes the inbox, or removes it with its last draft.
func (s *Store) saveInbox(path string, f file) error {
	if !slices.ContainsFunc(f.blocks, func(b block) bool { return b.note != nil }) {
		f = file{}
	}
	return s.save(path, f)
}

// Accept makes a draft a note.
func (s *Store) Accept(ctx context.Context, id string) (Change, error) {
	list, _ := s.Drafts()
	at := slices.IndexFunc(list, func(n Note) bool { return n.ID == id })
	if at < 0 {
		return Change{}, fmt.Errorf("%q: there is no such draft", id)
	}
	n := list[at]
	c, err := s.Add(ctx, New{Text: n.Text, Topic: n.Topic, About: n.About, By: n.By, From: n.From})
	if err != nil {
		return c, err
	}
	return c, s.change(ctx, Project, func(book) error {
		_, err := s.take(id)
		return err
	})
}

// DropDraft removes a draft.
func (s *Store) DropDraft(ctx context.Context, id string) (n Note, err error) {
	err = s.change(ctx, Project, func(book) (err error) {
		n, err = s.take(id)
		return err
	})
	return n, err
}

// Refresh writes MEMORY.md of a book anew, after a person changed a file of it.
func (s *Store) Refresh(ctx context.Context, about About) error {
	return s.change(ctx, about, func(book) error { return nil })
}
