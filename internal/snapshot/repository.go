package snapshot

// Move is a .git that is somewhere else now.
type Move struct{ From, To string }

// Repositories takes what became of repositories out of changes: which .git a command moved, and which are gone. Of
// new ones there is nothing to say.
func Repositories(changes []Change) (rest []Change, moved []Move, gone []string) {
	left := map[uint64]string{}
	for _, c := range changes {
		if c.Before.Kind == Repository && c.After.Kind == None && c.Before.stamp.node != 0 {
			left[c.Before.stamp.node] = c.Path
		}
	}
	for _, c := range changes {
		from, there := left[c.After.stamp.node]
		if there && c.Before.Kind == None && c.After.Kind == Repository {
			moved = append(moved, Move{from, c.Path})
			delete(left, c.After.stamp.node)
		}
	}
	for _, c := range changes {
		was, is := c.Before.Kind == Repository, c.After.Kind == Repository
		if !was && !is {
			rest = append(rest, c)
		} else if was && c.After.Kind == None && (c.Before.stamp.node == 0 || left[c.Before.stamp.node] == c.Path) {
			gone = append(gone, c.Path)
		}
	}
	return rest, moved, gone
}
