package search

import (
	"context"
	"slices"
	"strings"

	"jcode/internal/ignore"
)

// Node is one entry of a Tree.
type Node struct {
	Name string
	// Folder marks a folder, Link a symbolic link; otherwise it is a file or something special.
	Folder, Link bool
	// Ignored folders are named but not opened.
	Ignored bool
	// Children are the entries of an opened folder, by name, folders first.
	Children []Node
	// More is how many entries of a folder are not in Children, -1 if it was not opened.
	More int
}

// Tree lists the folder at which a walk begins, down to a depth (1 = its own entries), at most limit entries
// in all: level by level, so that a large folder does not hide a small one.
func (w Walk) Tree(ctx context.Context, depth, limit int) (Node, Missed, error) {
	top, err := openTop(w.Top)
	if err != nil {
		return Node{}, Missed{}, err
	}
	defer top.close()
	r := &walker{Walk: w, top: top, ctx: ctx}
	type open struct {
		node  *Node
		path  string
		rules *ignore.Stack
	}
	dir := w.start()
	root := Node{Name: dir, Folder: true}
	level := []open{{&root, dir, r.above(dir)}}
	buf := make([]byte, 64<<10)
	for d := 0; d < depth && len(level) > 0; d++ {
		var next []open
		for i, o := range level {
			if ctx.Err() != nil {
				return root, r.missed, ctx.Err()
			}
			// The rest is shared by the folders of this level.
			share := max(limit/(len(level)-i), 1)
			if limit <= 0 {
				o.node.More = -1
				continue
			}
			entries, rules, err := r.entries(o.path, o.rules, buf)
			if err != nil && d == 0 {
				return Node{}, r.missed, err
			}
			r.miss(err)
			take := min(len(entries), share)
			o.node.More = len(entries) - take
			limit -= take
			o.node.Children = make([]Node, take)
			for k, e := range entries[:take] {
				path := join(o.path, e.name)
				folder := e.kind == folder
				o.node.Children[k] = Node{
					Name: e.name, Folder: folder, Link: e.kind == link,
					Ignored: e.name == ".git" || rules.Ignored(path, folder) && !r.Tracked.has(path, folder),
				}
				if n := &o.node.Children[k]; folder {
					n.More = -1
					if !n.Ignored {
						next = append(next, open{n, path, rules})
					}
				}
			}
		}
		level = next
	}
	return root, r.missed, nil
}

// entries lists a folder, folders first, by name, with the rules that apply in it.
func (r *walker) entries(dir string, rules *ignore.Stack, buf []byte) ([]entry, *ignore.Stack, error) {
	h, err := r.top.folder(dir)
	if err != nil {
		return nil, rules, err
	}
	defer h.close()
	entries, err := h.list(buf)
	if slices.ContainsFunc(entries, func(e entry) bool { return e.name == ".gitignore" && e.kind == file }) {
		rules = rules.Push(dir, readRules(h))
	}
	if r.Skip != nil {
		entries = slices.DeleteFunc(entries, func(e entry) bool { return r.Skip(join(dir, e.name), e.kind == folder) })
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if (a.kind == folder) != (b.kind == folder) {
			if a.kind == folder {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return entries, rules, err
}
