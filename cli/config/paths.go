package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Paths are the folders that belong to jcode and to the person.
type Paths struct {
	// Config holds config.json, credentials.json, skills and so on.
	Config string
	// Data holds the database and logs.
	Data string
	// Home is the person's home folder; empty when there is none.
	Home string
}

// FindPaths returns jcode's folders: both in $JCODE_HOME; otherwise jcode in $XDG_CONFIG_HOME and
// $XDG_DATA_HOME, whose defaults are ~/.config and ~/.local/share, on Windows %AppData% and %LocalAppData%.
// Nothing is created.
func FindPaths(getenv func(string) string) (Paths, error) {
	var p Paths
	home, err := os.UserHomeDir()
	if err == nil && filepath.IsAbs(home) {
		p.Home = home
	}
	if dir := getenv("JCODE_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return Paths{}, errors.New("JCODE_HOME must be an absolute path")
		}
		p.Config, p.Data = abs, abs
		return p, nil
	}
	p.Config = userFolder(getenv, home, "XDG_CONFIG_HOME", "AppData", ".config")
	p.Data = userFolder(getenv, home, "XDG_DATA_HOME", "LocalAppData", filepath.Join(".local", "share"))
	if p.Config == "" || p.Data == "" {
		return Paths{}, errors.New("there is no home folder: set JCODE_HOME")
	}
	return p, nil
}

func userFolder(getenv func(string) string, home, xdg, windows, fallback string) string {
	if dir := getenv(xdg); filepath.IsAbs(dir) {
		return filepath.Join(dir, "jcode")
	}
	if dir := systemFolder(getenv, windows); filepath.IsAbs(dir) {
		return filepath.Join(dir, "jcode")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, fallback, "jcode")
}

// File returns the person's config file.
func (p Paths) File() string { return filepath.Join(p.Config, "config.json") }

// Credentials returns the file of keys.
func (p Paths) Credentials() string { return filepath.Join(p.Config, "credentials.json") }

// Models returns the file of a table of models that was read.
func (p Paths) Models() string { return filepath.Join(p.Config, "models.json") }

// ProjectFile returns a project's config file.
func ProjectFile(root string) string { return filepath.Join(root, ".jcode", "config.json") }

// resolveFolders makes the folders in c absolute: ~/ is the home, anything else is relative to the file's
// folder.
func resolveFolders(c *Config, base, home string) {
	for i, dir := range c.Skills.Folders {
		if rest, ok := strings.CutPrefix(filepath.ToSlash(dir), "~/"); ok {
			dir = filepath.Join(home, filepath.FromSlash(rest))
		} else if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		c.Skills.Folders[i] = filepath.Clean(dir)
	}
}
