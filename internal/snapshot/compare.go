package snapshot

import "path/filepath"

// comparison is a folder that is compared with its listing before. As long as each name is in its place and as it
// was, nothing is made anew.
type comparison struct {
	was     listing
	now     listing        // once something differs
	same    int            // how many are as before, in the same places
	known   int            // how many there were before
	at      map[string]int // where each name is in was, once one is not in its place
	changes []Change
}

// before returns what there was of a name.
func (c *comparison) before(d found) (Entry, bool) {
	if d.was >= 0 {
		return c.was[d.was].is, true
	}
	if c.at == nil {
		c.at = c.was.index()
	}
	i, known := c.at[d.name]
	if !known {
		return Entry{}, false
	}
	return c.was[i].is, true
}

// add is called with each name of a folder, what there was and what there is now.
func (c *comparison) add(full, name string, before, e Entry, known bool) {
	if known {
		c.known++
	}
	if !known || !e.same(before) {
		c.changes = append(c.changes, Change{Path: filepath.Join(full, name), Before: before, After: e})
	}
	switch {
	case c.now != nil:
		c.now = append(c.now, named{name, e})
	case known && e == before && c.same < len(c.was) && c.was[c.same].name == name:
		c.same++
	default:
		c.now = append(append(make(listing, 0, len(c.was)+1), c.was[:c.same]...), named{name, e})
	}
}

// end returns what is in the folder. It is called after the last name.
func (c *comparison) end(full string) listing {
	if c.now == nil && c.same == len(c.was) {
		return c.was
	}
	if c.now == nil {
		c.now = append(listing{}, c.was[:c.same]...)
	}
	if c.known == len(c.was) {
		return c.now
	}
	now := c.now.index()
	for _, e := range c.was {
		if _, there := now[e.name]; !there {
			c.changes = append(c.changes, Change{Path: filepath.Join(full, e.name), Before: e.is})
		}
	}
	return c.now
}
