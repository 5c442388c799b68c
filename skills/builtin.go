package skills

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"jcode/internal/atomicfile"
	"jcode/internal/frontmatter"
)

// builtinFiles holds one folder per builtin skill.
//
//go:embed all:builtin
var builtinFiles embed.FS

// builtins reads the skills that come with the program.
func builtins(src Source) []read {
	dirs, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		return nil // there are none
	}
	var out []read
	for _, d := range dirs {
		file := path.Join("builtin", d.Name(), skillFile)
		data, err := builtinFiles.ReadFile(file)
		if err != nil {
			continue // a test checks that each folder has one
		}
		out = append(out, read{Entry: parse(data, filepath.FromSlash(file), src)})
	}
	return out
}

// loadBuiltin returns the text of a builtin skill. Its other files, if any, are written to disk,
// because a model can only read what is there.
func (r *Registry) loadBuiltin(sk Skill) (Loaded, error) {
	dir := path.Dir(filepath.ToSlash(sk.File))
	data, err := builtinFiles.ReadFile(path.Join(dir, skillFile))
	if err != nil {
		return Loaded{}, fmt.Errorf("read builtin skill %s: %w", sk.Name, err)
	}
	sub, err := fs.Sub(builtinFiles, dir)
	if err != nil {
		return Loaded{}, fmt.Errorf("read builtin skill %s: %w", sk.Name, err)
	}
	l := Loaded{Skill: sk, Body: frontmatter.Parse(data).Body}
	l.Files, l.More = listFiles(sub)
	l.Skill.Dir = ""
	if len(l.Files) > 0 && r.opts.Cache != "" {
		l.Skill.Dir = filepath.Join(r.opts.Cache, "skills", sk.Hash[:16], sk.Name)
		if err := layOut(sub, l.Skill.Dir, l.Files); err != nil {
			return Loaded{}, fmt.Errorf("lay out builtin skill %s: %w", sk.Name, err)
		}
	} else {
		l.Files = nil
	}
	l.compose()
	return l, nil
}

// layOut writes the files of src that are missing in dir or differ there.
func layOut(src fs.FS, dir string, files []string) error {
	for _, name := range append(files, skillFile) {
		data, err := fs.ReadFile(src, filepath.ToSlash(name))
		if err != nil {
			return err
		}
		target := filepath.Join(dir, name)
		if have, err := os.ReadFile(target); err == nil && string(have) == string(data) {
			continue
		}
		if err := atomicfile.Write(target, data, atomicfile.Options{Perm: 0o600}); err != nil {
			return err
		}
	}
	return nil
}
