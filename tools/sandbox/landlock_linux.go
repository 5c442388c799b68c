package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// restrict drops rights from this process, what it becomes and what it starts. ownTerminals says that the
// pseudo terminals it sees are its own.
func restrict(o order, ownTerminals bool) error {
	cfg := landlock.V11.BestEffort()
	rules := []landlock.Rule{
		landlock.PathAccess(llsys.AccessFSReadDir, "/"), // names may be listed, contents not read
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty").WithIoctlDev().IgnoreIfMissing(),
		landlock.RWDirs("/dev/shm").WithIoctlDev().IgnoreIfMissing(),
	}
	if ownTerminals {
		rules = append(rules, landlock.RWFiles("/dev/ptmx").WithIoctlDev().IgnoreIfMissing(), landlock.RWDirs("/dev/pts").WithIoctlDev().IgnoreIfMissing())
	}
	// A program that writes to a person's terminal can read what they type, and show them anything.
	o.Hidden = slices.Concat(o.Hidden, []string{"/dev/pts", "/dev/ptmx"}, o.View.private())
	var dirs, files []string
	except("/", o.Hidden, func(path string, dir bool) {
		if dir {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
	})
	rules = append(rules, landlock.RODirs(dirs...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing())
	for _, root := range o.Write {
		rules = append(rules, writable(root, o)...)
	}
	for _, part := range o.Open {
		rules = append(rules, part.rule())
	}
	for _, root := range o.Work {
		rules = append(rules, landlock.PathAccess(llsys.AccessFSResolveUnix, root).IgnoreIfMissing())
	}
	if err := cfg.RestrictPaths(rules...); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	if err := cfg.RestrictScoped(); err != nil {
		return fmt.Errorf("restrict signals: %w", err)
	}
	if o.NoTCP {
		if err := cfg.RestrictNet(); err != nil {
			return fmt.Errorf("restrict network: %w", err)
		}
	}
	return nil
}

// rule returns what may be done with an opening.
func (p opening) rule() landlock.Rule {
	info, err := os.Stat(p.Path)
	switch file := err == nil && !info.IsDir(); {
	case file && p.Write:
		return landlock.RWFiles(p.Path).IgnoreIfMissing()
	case file:
		return landlock.ROFiles(p.Path).IgnoreIfMissing()
	case p.Write:
		return landlock.RWDirs(p.Path).WithRefer().IgnoreIfMissing()
	}
	return landlock.RODirs(p.Path).IgnoreIfMissing()
}

// writable returns the rules for a folder that may be written. If something hidden is in it and can't be
// shielded, only the parts beside that are granted: Landlock has no exceptions inside a folder.
func writable(root string, o order) []landlock.Rule {
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		return []landlock.Rule{landlock.RWFiles(root).IgnoreIfMissing()}
	}
	if o.Shields || !holds(root, o.Hidden) {
		return []landlock.Rule{landlock.RWDirs(root).WithRefer().IgnoreIfMissing()}
	}
	var dirs, files []string
	except(root, o.Hidden, func(path string, dir bool) {
		if dir {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
	})
	return []landlock.Rule{landlock.RWDirs(dirs...).WithRefer().IgnoreIfMissing(), landlock.RWFiles(files...).IgnoreIfMissing()}
}

// except visits the largest parts of a folder that contain none of the hidden paths. Links are left out:
// their targets are visited where they are.
func except(dir string, hidden []string, visit func(path string, dir bool)) {
	if !holds(dir, hidden) {
		visit(dir, true)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // what can't be listed is not granted
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case isHidden(path, hidden) || e.Type()&fs.ModeSymlink != 0:
		case e.IsDir():
			except(path, hidden, visit)
		default:
			visit(path, false)
		}
	}
}
