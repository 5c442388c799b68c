// Package startfiles owns finding the files of a workspace that a command line names or
// starts, and a hash of them: what a person approves of a line is what it runs.
//
// It must not know who approves a line, or where the approval is kept.
package startfiles

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/pattern"
)

// Limits of what is examined for one line.
const (
	maxFiles  = 200       // files in all
	maxDepth  = 3         // scripts that name scripts
	maxWords  = 5000      // words of one script
	maxScript = 256 << 10 // bytes of a script that are searched for more names
	maxHashed = 64 << 20  // bytes of one file that are hashed; longer ones also include their length
)

// Pin returns base, the hash of a line as written, extended by the content of all files of root that the
// lines name or start. Without any it returns base.
func Pin(base, root string, lines ...string) string {
	files := Files(root, lines...)
	if len(files) == 0 {
		return base
	}
	sum := sha256.New()
	_, _ = io.WriteString(sum, base) // a hash never fails
	for _, name := range files {
		_, _ = fmt.Fprintf(sum, "\x00%s\x00", name)
		add(sum, filepath.Join(root, filepath.FromSlash(name)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// add hashes one file. One that can't be read is hashed as unreadable.
func add(sum hash.Hash, path string) {
	f, err := paths.Open(path)
	if err != nil {
		_, _ = fmt.Fprintf(sum, "unreadable")
		return
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_, _ = fmt.Fprintf(sum, "no regular file")
		return
	} else if info.Size() > maxHashed {
		_, _ = fmt.Fprintf(sum, "%d", info.Size())
	}
	if _, err := io.Copy(sum, io.LimitReader(f, maxHashed)); err != nil {
		_, _ = fmt.Fprintf(sum, "unreadable")
	}
}

// Files returns the files of root that the lines name or start, relative to it with
// slashes and sorted: programs and scripts, what those scripts name in turn, the modules of
// an interpreter, and the files in which a runner such as make looks up what to do.
func Files(root string, lines ...string) []string {
	base, err := paths.Resolve(root)
	if err != nil || base == filepath.Dir(base) {
		return nil // the whole disk is not a workspace
	}
	s := search{root: base, found: map[string]bool{}}
	for _, line := range lines {
		s.line(line, base, "", 0)
	}
	return slices.Sorted(maps.Keys(s.found))
}

// search collects what lines name.
type search struct {
	root  string
	found map[string]bool
}

// line examines a shell line or a script, which begins in dir. script is the file that holds it, "" for a line.
func (s *search) line(line, dir, script string, depth int) {
	if (script == "" || isShellScript(script, line)) && s.shell(line, dir, script, depth) {
		return
	}
	words := split(line)
	for i, w := range words {
		s.word(w, dir, depth)
		if depth == 0 || i == 0 {
			for _, name := range runners(w) {
				s.file(filepath.Join(dir, name), depth, true)
			}
		}
	}
	if strings.HasSuffix(script, ".py") {
		for _, m := range imports().FindAllStringSubmatch(line, maxWords) {
			for name := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return r == ',' || r <= ' ' }) {
				s.word(m[1]+"."+name, dir, depth)
			}
		}
	}
	if strings.Contains(strings.ToLower(filepath.Base(script)), "makefile") || strings.HasSuffix(script, ".mk") {
		for _, m := range includes().FindAllStringSubmatch(line, maxWords) {
			for _, name := range strings.Fields(m[1]) {
				s.file(within(dir, name), depth, true)
			}
		}
	}
}

// imports matches `from package import names` of Python, includes the files that a makefile includes.
var (
	imports  = pattern.Lazy(`(?m)^\s*from\s+([\w.]+)\s+import\s+\(?([\w, \t\n]+)`)
	includes = pattern.Lazy(`(?m)^\s*[-s]?include\s+(.+)$`)
)

// isShellScript reports whether a script is for a POSIX shell.
func isShellScript(path, text string) bool {
	switch filepath.Ext(path) {
	case ".sh", ".bash":
		return true
	case "":
		first, _, _ := strings.Cut(text, "\n")
		return strings.HasPrefix(first, "#!") && isShell(filepath.Base(strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(first, "/usr/bin/env ", ""), "#!"))))
	}
	return false
}

// split splits a line at everything that can be next to a path in a shell or a script.
func split(line string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("\"'`;|&()<>{}[],=:$*?\\#!", r)
	})
	return words[:min(len(words), maxWords)]
}

// runners returns the files in which a program looks up what to run.
func runners(word string) []string {
	switch strings.TrimSuffix(filepath.Base(word), ".exe") {
	case "make", "gmake":
		return []string{"GNUmakefile", "makefile", "Makefile"}
	case "npm", "npx", "yarn", "pnpm", "bun", "bunx":
		return []string{"package.json"}
	case "deno":
		return []string{"deno.json", "deno.jsonc", "package.json"}
	case "just":
		return []string{"justfile", "Justfile", ".justfile"}
	case "task":
		return []string{"Taskfile.yml", "Taskfile.yaml"}
	case "rake":
		return []string{"Rakefile", "rakefile"}
	case "tox", "nox", "pytest", "uv", "poetry", "hatch", "pdm":
		return []string{"tox.ini", "noxfile.py", "conftest.py", "pyproject.toml", "setup.cfg"}
	case "cargo":
		return []string{"Cargo.toml", "build.rs", ".cargo/config.toml"}
	case "mvn", "gradle":
		return []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle"}
	case "docker", "docker-compose", "podman":
		return []string{"Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yml"}
	}
	return nil
}

// word adds what a word of a line in dir may name.
func (s *search) word(w, dir string, depth int) {
	if w == "" || w == "." || w == ".." || len(w) > 4096 {
		return
	}
	path := filepath.FromSlash(w)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	module := filepath.Join(dir, strings.ReplaceAll(w, ".", string(filepath.Separator)))
	for _, candidate := range []string{
		path, path + ".py", path + ".js", path + ".mjs", path + ".cjs", path + ".ts", path + ".rb",
		filepath.Join(path, "index.js"), filepath.Join(path, "package.json"), filepath.Join(path, "__main__.py"),
		module + ".py", filepath.Join(module, "__main__.py"), filepath.Join(module, "__init__.py"),
	} {
		s.file(candidate, depth, false)
	}
	if depth == 0 {
		s.folder(path)
	}
}

// file adds a regular file of the root, and what it names if it is a script; follow says that it is one.
func (s *search) file(path string, depth int, follow bool) {
	if len(s.found) >= maxFiles {
		return
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	real, err := paths.Resolve(path)
	if err != nil || !paths.Within(s.root, real) {
		return
	}
	rel, err := filepath.Rel(s.root, real)
	if err != nil || s.found[filepath.ToSlash(rel)] {
		return
	}
	text, script := readScript(real, info)
	script = script || follow
	if depth > 0 && !script {
		return // data that a script mentions
	}
	s.found[filepath.ToSlash(rel)] = true
	if script && depth < maxDepth {
		s.line(text, s.root, real, depth+1)
		if dir := filepath.Dir(real); dir != s.root {
			s.line(text, dir, real, depth+1)
		}
	}
}

// folder adds the sources of a folder that a line names, as `go run ./cmd/x` does.
func (s *search) folder(dir string) {
	real, err := paths.Resolve(dir)
	if err != nil || real == s.root || !paths.Within(s.root, real) {
		return
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return
	}
	// What can't be read is not started either.
	_ = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case len(s.found) >= maxFiles:
			return fs.SkipAll
		case d.IsDir() && path != real && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.Type().IsRegular():
			if rel, err := filepath.Rel(s.root, path); err == nil {
				s.found[filepath.ToSlash(rel)] = true
			}
		}
		return nil
	})
}

// readScript returns the text of a file that an interpreter runs.
func readScript(path string, info fs.FileInfo) (text string, ok bool) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".lua", ".php", ".ps1", ".bat", ".cmd", ".mk":
		ok = true
	default:
		ok = info.Mode()&0o111 != 0 || len(runners(path)) > 0 || strings.Contains(strings.ToLower(filepath.Base(path)), "makefile")
	}
	f, err := paths.Open(path)
	if err != nil {
		return "", ok
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxScript))
	if err != nil || bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 {
		return "", ok // a binary names nothing
	}
	if bytes.HasPrefix(data, []byte("#!")) {
		ok = true
	}
	return string(data), ok
}
