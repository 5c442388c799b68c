package lua

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/lua/manifest"
	"jcode/tools"
)

// toolRoot is a folder of tool folders.
type toolRoot struct {
	path  string
	scope string // project, user, or the plugin that brings it
	rank  tools.Rank
	// state is the part of the scope of stored values that tells this folder from others of the same scope.
	state string
	// inside is the folder that links must not lead out of, "" for the user's own.
	inside string
}

// toolRoots returns the folders of tools, strongest first.
func (o Options) toolRoots() []toolRoot {
	list := []toolRoot{
		{filepath.Join(o.Root, ".jcode", "lua", "tools"), "project", tools.RankProject, "", o.Root},
		{filepath.Join(o.Root, "mcp_lua", "tools"), "project", tools.RankProject, "mcp_lua/", o.Root},
	}
	if o.Config != "" {
		list = append(list, toolRoot{filepath.Join(o.Config, "lua", "tools"), "user", tools.RankUser, "", ""})
	}
	return append(list, o.brought("tools", tools.RankUser)...)
}

// brought returns the folders of a kind in installed plugins, each in PLUGIN/lua.
func (o Options) brought(kind string, rank tools.Rank) []toolRoot {
	if o.Plugins == nil {
		return nil
	}
	var list []toolRoot
	for _, dir := range o.Plugins() {
		scope := "plugin " + filepath.Base(filepath.Dir(dir)) // of no project, so that it needs no trust of one
		list = append(list, toolRoot{filepath.Join(dir, kind), scope, rank, scope + "/", ""})
	}
	return list
}

// Times that keep a half-written file from being read as a version.
const (
	youngFile  = 50 * time.Millisecond
	settleStep = 20 * time.Millisecond
	settleMax  = 200 * time.Millisecond
)

// Refresh compares all folders with the disk and applies what changed. It is cheap when nothing has; the
// agent calls it before each step, the watcher after changes.
func (r *Room) Refresh() {
	r.scan.Lock()
	defer r.scan.Unlock()
	var changed []*slot
	seen, unread := map[string]bool{}, map[string]bool{}
	for _, root := range r.around.opts.toolRoots() {
		list, err := manifest.Folders(root.path)
		if err != nil {
			unread[root.path] = true // too many open files, for example: its tools stay as they are
			r.around.logs.add("lua", "warn", fmt.Sprintf("look for tools: %v", err))
		}
		for _, c := range list {
			dir := filepath.Join(root.path, c.Name)
			seen[dir] = true
			if s := r.look(root, c.Name, dir, c.Stamp, c.Both); s != nil {
				changed = append(changed, s)
			}
		}
	}
	for dir, s := range r.slots() {
		if !seen[dir] && !unread[s.root.path] && s.current() != nil {
			s.keep(nil)
			changed = append(changed, s)
		}
	}
	r.takeOver(changed)
	r.scanPlugins()
}

// refreshSlot compares one folder with the disk at the time of a call.
func (r *Room) refreshSlot(s *slot) {
	if st, ok := manifest.StampOf(s.dir); ok {
		if v := s.current(); v != nil && v.stamp == st {
			return
		}
	}
	r.scan.Lock()
	defer r.scan.Unlock()
	st, ok := manifest.StampOf(s.dir)
	if changed := r.look(s.root, s.name, s.dir, st, ok); changed != nil {
		r.takeOver([]*slot{changed})
	}
}

// look updates the slot of one folder from its stamp, and returns it when something changed.
func (r *Room) look(root toolRoot, name, dir string, st manifest.Stamp, ok bool) *slot {
	s := r.slotAt(dir)
	known := s != nil && s.current() != nil
	if known && ok && s.current().stamp == st {
		return nil
	}
	if !known && !ok {
		return nil // not a tool
	}
	st, ok = settled(dir, st, ok)
	if !ok {
		s.keep(nil)
		return s
	}
	if s == nil {
		s = &slot{root: root, name: name, dir: dir, owner: "tool:" + root.scope + "/" + name}
		r.addSlot(s)
	}
	v := r.readVersion(s, st)
	if old := s.current(); old != nil && old.hash == v.hash && old.trusted == v.trusted && (old.broken == nil) == (v.broken == nil) {
		s.touched(st)
		return nil
	}
	s.keep(v)
	return s
}

// touched records that the files have new times but the same bytes.
func (s *slot) touched(st manifest.Stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := *s.cur
	v.stamp = st
	s.cur, s.recent[v.hash] = &v, &v
}

// settled waits a moment for files that are being written, or are missing between two steps of
// an editor.
func settled(dir string, st manifest.Stamp, ok bool) (manifest.Stamp, bool) {
	for began := time.Now(); time.Since(began) < settleMax; {
		age := time.Since(st.Newest())
		if ok && st.Filled() && (age > youngFile || age < 0) {
			break
		}
		if _, err := os.Stat(dir); err != nil {
			return st, false
		}
		time.Sleep(settleStep)
		next, nextOK := manifest.StampOf(dir)
		if nextOK && ok && next == st && st.Filled() {
			break
		}
		st, ok = next, nextOK
	}
	return st, ok
}

// readVersion reads both files once. After a fault the version is broken and keeps the last good
// manifest, so that the tool stays listed.
func (r *Room) readVersion(s *slot, st manifest.Stamp) *version {
	v := &version{stamp: st, manifest: manifest.None()}
	old := s.current()
	if old != nil {
		v.manifest = old.manifest
	}
	text, err := readFile(s.root, filepath.Join(s.dir, manifest.FileName), manifest.MaxSize)
	source, err2 := readFile(s.root, filepath.Join(s.dir, manifest.MainName), maxSource)
	v.text, v.source = text, string(source)
	v.hash = hashOf(v.text, source)
	if !manifest.IsToolName(s.name) {
		err = fmt.Errorf("the folder name %q is not a tool name: %s", s.name, manifest.ToolNames)
	}
	if err = errors.Join(err, err2); err == nil {
		var m *manifest.Manifest
		if m, err = manifest.Parse(s.name+"/"+manifest.FileName, v.text); err == nil {
			v.manifest = m
			for _, w := range m.Warnings {
				r.around.logs.add(s.name, "warn", w)
			}
		}
	}
	v.broken = err
	v.trusted = r.trusted(s.root.scope)
	return v
}

// maxSource is the limit of a script, in bytes.
const maxSource = 256 << 10

// readFile reads a small file that does not lead out of its project.
func readFile(root toolRoot, path string, limit int) ([]byte, error) {
	if root.inside != "" {
		real, err := paths.Resolve(path)
		if err != nil {
			return nil, err
		}
		if inside, err := paths.Resolve(root.inside); err != nil || !paths.Within(inside, real) {
			return nil, fmt.Errorf("%s is a link that leads out of the project", filepath.Base(path))
		}
	}
	f, err := paths.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return data, fmt.Errorf("%s is larger than %d KiB", filepath.Base(path), limit>>10)
	}
	return data, nil
}

// hashOf returns the hash of a manifest and all Lua source that belongs to it.
func hashOf(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d\x00", len(p)) // a hash never fails
		_, _ = h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// tell reports that a tool does not load, or loads again.
func (r *Room) tell(s *slot) {
	if level, text := s.news(); text != "" {
		r.around.notice(level, text)
	}
}

// takeOver registers changed folders in one step, then shows the notices.
func (r *Room) takeOver(changed []*slot) {
	if len(changed) == 0 {
		return
	}
	r.register(changed)
	var check []*slot
	for _, s := range changed {
		v := s.current()
		if v != nil && v.broken == nil && v.trusted {
			check = append(check, s) // its notice follows the check
		} else {
			r.tell(s)
		}
		if v == nil {
			r.dropSlot(s)
		}
	}
	r.reportUntrusted()
	r.checkSyntax(check)
}

// register puts the current versions into the registry. Within the project, `.jcode/lua` takes precedence
// over `mcp_lua`; the registry decides all other conflicts.
func (r *Room) register(changed []*slot) {
	names := map[string]bool{}
	for _, s := range changed {
		names[s.name] = true
	}
	first := map[string]*slot{} // owner → its folder
	var all []*slot
	for _, s := range r.slots() {
		if names[s.name] {
			all = append(all, s)
		}
	}
	order := map[string]int{}
	for i, root := range r.around.opts.toolRoots() {
		order[root.path] = i
	}
	slices.SortFunc(all, func(a, b *slot) int {
		return cmp.Or(order[a.root.path]-order[b.root.path], strings.Compare(a.dir, b.dir))
	})
	var changes []tools.Change
	for _, s := range all {
		v := s.current()
		switch holder := first[s.owner]; {
		case v == nil:
			if holder == nil {
				changes = append(changes, tools.Change{Owner: s.owner, Rank: s.root.rank})
			}
			continue
		case holder != nil:
			s.setRefused("already registered by " + holder.dir)
			continue
		}
		first[s.owner] = s
		changes = slices.DeleteFunc(changes, func(c tools.Change) bool { return c.Owner == s.owner })
		changes = append(changes, tools.Change{Owner: s.owner, Rank: s.root.rank, Tools: []tools.Tool{&luaTool{room: r, slot: s, v: v}}})
	}
	r.around.opts.Registry.Apply(changes)
	r.noteRefusals(first)
}

// noteRefusals records which tools the registry refused: their names belong to an owner of the
// same or a stronger rank.
func (r *Room) noteRefusals(first map[string]*slot) {
	snap := r.around.opts.Registry.Snapshot(nil)
	have := map[string]tools.Entry{}
	for _, e := range snap.All() {
		if first[e.Owner] != nil {
			have[e.Owner] = e
		}
	}
	for owner, s := range first {
		e, ok := have[owner]
		switch {
		case ok && e.Shadowed != "":
			s.setRefused("shadowed by " + e.Shadowed)
		case ok:
			s.setRefused("")
		default:
			why := "the registry refused it"
			if holder, taken, _ := snap.Lookup(s.name); taken {
				why = "already registered by " + holder.Owner
			}
			if s.setRefused(why) {
				r.around.notice("warn", fmt.Sprintf("lua %s: the name is %s", s.name, why))
			}
		}
	}
}

// setRefused records why the registry refused the tool, and reports whether that is new.
func (s *slot) setRefused(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.refused != why
	s.refused = why
	return fresh && why != ""
}
