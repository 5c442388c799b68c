package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// prepare writes what is made for a release, and the same for all systems, into a folder: licences, completions, the
// compressed manual.
func prepare(ctx context.Context, dir string) error {
	text, err := licences(ctx)
	if err != nil {
		return err
	}
	manual, err := os.ReadFile(filepath.Join("docs", "jcode.1"))
	if err != nil {
		return err
	}
	made := map[string][]byte{"LICENCES.txt": []byte(text), "jcode.1.gz": zipped(manual)}
	stage, err := os.MkdirTemp("", "jcode-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(stage) }()
	self := filepath.Join(stage, "self")
	if runtime.GOOS == "windows" {
		self += ".exe"
	}
	if _, err := output(ctx, "go", "build", "-o", self, "."); err != nil {
		return err
	}
	for shell, name := range map[string]string{"bash": "jcode.bash", "zsh": "_jcode", "fish": "jcode.fish"} {
		script, err := exec.CommandContext(ctx, self, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion for %s: %w", shell, err)
		}
		made[filepath.Join("completions", name)] = script
	}
	if err := os.MkdirAll(filepath.Join(dir, "completions"), 0o755); err != nil {
		return err
	}
	for name, data := range made {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
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
func licences(ctx context.Context) (string, error) {
	modules := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
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
