package snapshot

import (
	"io/fs"
	"time"
)

// status is what the file system says of a path, without following a link.
type status struct {
	mode   fs.FileMode
	device uint64 // the file system that it is on
	stamp  stamp
}

// found is a name in a folder, and what is there.
type found struct {
	name string
	is   status
	was  int // where the listing before has the name; -1 if that is not known
}

// follower goes through a listing beside the folder that it is of: unchanged folders are in the same order, so that
// nothing must be searched for.
type follower struct {
	was  listing
	next int
}

// see returns a name, and where it is in the listing if it is the next one there.
func (f *follower) see(name []byte) (string, int) {
	if f.next < len(f.was) && f.was[f.next].name == string(name) {
		f.next++
		return f.was[f.next-1].name, f.next - 1
	}
	return string(name), -1
}

// stamp is what the file system says of a version of a file. A file with the same stamp was not changed; the zero
// stamp says that the file must be read.
type stamp struct {
	size, modified, changed int64 // changed is a time that no program can set
	node                    uint64
	mode                    uint32
}

// sameTick is how far apart two changes are whose times a file system surely tells apart.
const sameTick = 20 * time.Millisecond

// recent reports whether a file was changed so shortly before a time that another change would not show.
func (s stamp) recent(at time.Time) bool {
	last := time.Unix(0, max(s.modified, s.changed))
	return last.After(at.Add(-sameTick)) || last.Nanosecond() == 0 && last.After(at.Add(-2*time.Second))
}
