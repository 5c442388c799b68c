package session

import (
	"errors"
	"os"
	"path/filepath"
)

// kindRepository marks a row about what git keeps of a repository, .git: it is moved as a whole and never looked into.
// The hashes of such a row are the paths where it was and is.
const kindRepository = "repository"

// keepMove records that a command moved what git keeps of a repository. Of several moves of one in a turn, only where
// it was and is counts.
func (t *tx) keepMove(n int64, turn int, from, to, author string) error {
	var id int64
	var first string
	err := t.Row("SELECT id, before_hash FROM checkpoints WHERE session = ? AND turn = ? AND state = ? AND after_kind = ? AND after_hash = ? ORDER BY id DESC LIMIT 1",
		[]any{n, turn, rowLive, kindRepository, from}, &id, &first)
	switch {
	case errors.Is(err, ErrNotFound):
		return t.run(`INSERT INTO checkpoints (session, turn, path, before_kind, before_hash, after_kind, after_hash, author, at, ended) VALUES (?1,?2,?3,?4,?5,?4,?3,?6,?7,?7)`,
			n, turn, to, kindRepository, from, author, toMillis(t.now()))
	case err != nil:
		return err
	case first == to:
		return t.run("DELETE FROM checkpoints WHERE id = ?", id)
	}
	return t.run("UPDATE checkpoints SET path = ?2, after_hash = ?2, ended = ?3 WHERE id = ?1", id, to, toMillis(t.now()))
}

// moveRepository moves what git keeps of a repository back to where it was, or again.
func (s step) moveRepository() (what, reason string) {
	from, to := s.from.hash, s.to.hash
	_, err := os.Lstat(from)
	_, occupied := os.Lstat(to)
	switch {
	case missing(err) && occupied == nil:
		return "", "" // it is there already
	case err != nil:
		return "", "it is no longer in " + filepath.Dir(from)
	case occupied == nil:
		return "", "there is another one now"
	case !missing(occupied):
		return "", occupied.Error()
	case movedFolder(from) || movedFolder(to):
		return "", "its folder is a link now"
	}
	if err := os.Rename(from, to); err != nil {
		return "", failedStep("moved", err)
	}
	return "moved back", ""
}
