package worktree

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
)

const (
	// startFile is a file in the git folder of a copy that says what was there when its work began.
	startFile = "jcode-start"
	startHead = "jcode worktree 1"
	// sameTick is how far apart two changes are whose times a file system surely tells apart.
	sameTick = 20 * time.Millisecond
	// maxHashed bounds a file whose content is remembered although git does not know it.
	maxHashed = 8 << 20
)

// start is what a copy contained when the work in it began.
type start struct {
	base, head string           // git's tree of the files, and the last commit
	links      map[string]bool  // folders of submodules
	files      map[string]stamp // everything else that was there
}

// stamp identifies one version of a file without reading it.
type stamp struct {
	info string // what the file system says of it; "" when that can't be trusted
	hash string // of its content, for what git does not know
}

// keepStart writes down what the copy contains now.
func (t Tree) keepStart(ctx context.Context) error {
	began := time.Now()
	head, err := git(ctx, t.Git, t.Dir, nil, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	list, err := gitBytes(ctx, t.Git, t.Dir, nil, nil, "ls-tree", "-r", "-z", "--full-tree", t.Base)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	var out bytes.Buffer
	_, _ = fmt.Fprintf(&out, "%s\x00%s\x00%s\x00", startHead, t.Base, head) // a buffer never fails
	for line := range strings.SplitSeq(string(list), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		known[path] = true
		if strings.HasPrefix(about, "160000 ") {
			_, _ = fmt.Fprintf(&out, "link\x00\x00%s\x00", path)
		}
	}
	err = t.walk(func(path string, info fs.FileInfo) bool {
		if info.IsDir() {
			return !known[path] // not a submodule
		}
		id, changed := stampOf(info)
		if changed.After(began.Add(-sameTick)) || changed.Nanosecond() == 0 && changed.After(began.Add(-2*time.Second)) {
			id = "" // another change in the same moment would not show
		}
		hash := ""
		if !known[path] {
			hash = t.hashOf(path, info)
		}
		_, _ = fmt.Fprintf(&out, "%s\x00%s\x00%s\x00", id, hash, path)
		return true
	})
	if err != nil {
		return err
	}
	dir, err := t.gitDir(ctx)
	if err != nil {
		return err
	}
	settings, err := os.OpenFile(filepath.Join(dir, "config.worktree"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil { // it is there, so that the sandbox can keep it as it is
		err = settings.Close()
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, startFile), out.Bytes(), atomicfile.Options{Perm: 0o600})
}

// start reads what keepStart wrote; false if there is nothing, as in copies of earlier versions.
func (t Tree) start(ctx context.Context) (s start, known bool) {
	dir, err := t.gitDir(ctx)
	if err != nil {
		return s, false
	}
	data, err := os.ReadFile(filepath.Join(dir, startFile))
	if err != nil {
		return s, false
	}
	fields := bufio.NewScanner(bytes.NewReader(data))
	fields.Buffer(make([]byte, 0, 64<<10), 1<<20)
	fields.Split(func(data []byte, _ bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	next := func() string {
		if !fields.Scan() {
			return ""
		}
		return fields.Text()
	}
	if next() != startHead {
		return s, false
	}
	s = start{base: next(), head: next(), links: map[string]bool{}, files: map[string]stamp{}}
	for fields.Scan() {
		info, hash, path := fields.Text(), next(), next()
		if info == "link" {
			s.links[path] = true
		} else if path != "" {
			s.files[path] = stamp{info, hash}
		}
	}
	return s, fields.Err() == nil
}

// stampOf returns what tells two versions of a file apart, and when it was last changed.
func stampOf(info fs.FileInfo) (id string, changed time.Time) {
	number, changed := identity(info)
	return strings.Join([]string{
		strconv.FormatUint(uint64(info.Mode()), 8), strconv.FormatInt(info.Size(), 10),
		strconv.FormatInt(info.ModTime().UnixNano(), 36), strconv.FormatInt(changed.UnixNano(), 36), number,
	}, " "), changed
}

// hashOf returns a hash of a file's content, or where a link leads; "" if it can't be read or is too large.
func (t Tree) hashOf(path string, info fs.FileInfo) string {
	full := filepath.Join(t.Dir, filepath.FromSlash(path))
	data, err := []byte(nil), error(nil)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		var to string
		to, err = os.Readlink(full)
		data = []byte("link " + to)
	case info.Mode().IsRegular() && info.Size() <= maxHashed:
		data, err = paths.ReadFile(full, maxHashed)
	default:
		return ""
	}
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (t Tree) gitDir(ctx context.Context) (string, error) {
	return git(ctx, t.Git, t.Dir, nil, "rev-parse", "--absolute-git-dir")
}
