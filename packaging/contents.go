package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// item is a file that goes into archives and packages.
type item struct {
	from string // on disk
	name string // in an archive
	// installed is where a Linux package puts it, "" for nowhere.
	installed string
	// debian is where Debian's packages put it instead, "" for the same place.
	debian string
	mode   uint32
}

// docFolder is where Linux packages put what can be read.
const docFolder = "/usr/share/doc/jcode/"

// pages lists what can be read, with everything that one page links to in another.
func (r *release) pages() ([]item, error) {
	items := []item{{from: filepath.Join(r.root, "LICENSE"), installed: docFolder + "copyright"}} // where Debian looks for it
	for _, pattern := range []string{"*.md", "LICENSE", "docs/*.md", "docs/*.json", "docs/screens/*.svg", "docs/screens/*.png"} {
		found, err := filepath.Glob(filepath.Join(r.root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			name := path.Join(path.Dir(pattern), filepath.Base(p))
			items = append(items, item{from: p, name: name, installed: docFolder + name})
		}
	}
	return items, nil
}

// shared makes what is the same for all targets: pages, completions, licences.
func (r *release) shared(ctx context.Context, stage string) ([]item, error) {
	items, err := r.pages()
	if err != nil {
		return nil, err
	}
	licences, err := r.licences(ctx)
	if err != nil {
		return nil, err
	}
	made := map[string][]byte{"LICENCES.txt": []byte(licences)}
	manual, err := os.ReadFile(filepath.Join(r.root, "docs", "jcode.1"))
	if err != nil {
		return nil, err
	}
	made["jcode.1"], made["jcode.1.gz"] = manual, zipped(manual)
	self := filepath.Join(stage, "self")
	if runtime.GOOS == "windows" {
		self += ".exe"
	}
	if _, err := output(ctx, "go", "build", "-o", self, "."); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "jcode.bash", "zsh": "_jcode", "fish": "jcode.fish"} {
		script, err := exec.CommandContext(ctx, self, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("completion for %s: %w", shell, err)
		}
		made[name] = script
	}
	for name, installed := range map[string]string{
		"LICENCES.txt": docFolder + "LICENCES.txt", "jcode.1": "", "jcode.1.gz": "/usr/share/man/man1/jcode.1.gz",
		"jcode.bash": "/usr/share/bash-completion/completions/jcode", "_jcode": "/usr/share/zsh/site-functions/_jcode",
		"jcode.fish": "/usr/share/fish/vendor_completions.d/jcode.fish",
	} {
		file := filepath.Join(stage, name)
		if err := os.WriteFile(file, made[name], 0o644); err != nil {
			return nil, err
		}
		it := item{from: file, name: name, installed: installed}
		switch name {
		case "jcode.1.gz":
			it.name = "" // archives have it unpacked
		case "jcode.bash", "_jcode", "jcode.fish":
			it.name = "completions/" + name
		}
		if name == "_jcode" { // Debian's zsh does not look into site-functions
			it.debian = "/usr/share/zsh/vendor-completions/_jcode"
		}
		items = append(items, it)
	}
	for i := range items {
		items[i].mode = 0o644
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.name+a.from, b.name+b.from) })
	return items, nil
}

// zipped compresses without a name or a time.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	_, err = w.Write(data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// licences are the licence texts of Go and of every module that some target links.
func (r *release) licences(ctx context.Context) (string, error) {
	modules := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Dir, cmd.Env = r.root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
		list, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("go list for %s: %w", system, err)
		}
		for line := range strings.Lines(string(list)) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				modules[module] = dir
			}
		}
	}
	goroot, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "LICENSE"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "== Go %s\n\n%s\n\n", runtime.Version(), text)
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		found, err := licenceFiles(modules[name])
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", fmt.Errorf("%s has no licence file", name)
		}
		for _, file := range found {
			text, err := os.ReadFile(filepath.Join(modules[name], file))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "== %s: %s\n\n%s\n\n", name, file, text)
		}
	}
	return b.String(), nil
}

func licenceFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.Type().IsRegular() && (strings.Contains(name, "license") || strings.Contains(name, "licence") ||
			strings.HasPrefix(name, "copying") || strings.HasPrefix(name, "notice")) {
			out = append(out, e.Name())
		}
	}
	return out, err
}
