package lsptest

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
)

// files returns the URIs of all files of the language, open or not.
func (s *server) files() []string {
	var out []string
	for uri := range s.docs {
		out = append(out, uri)
	}
	if len(s.disk) > 0 {
		for uri := range s.disk {
			if !slices.Contains(out, uri) {
				out = append(out, uri)
			}
		}
		slices.Sort(out)
		return out
	}
	_ = filepath.WalkDir(s.root, func(p string, d os.DirEntry, err error) error {
		uri := (&url.URL{Scheme: "file", Path: p}).String()
		if err == nil && !d.IsDir() && filepath.Ext(p) == ".fake" && !slices.Contains(out, uri) {
			out = append(out, uri)
		}
		return nil
	})
	slices.Sort(out)
	return out
}

func (s *server) text(uri string) string {
	if d, open := s.docs[uri]; open {
		return d.text
	}
	if s.disk != nil {
		return s.disk[uri]
	}
	b, err := os.ReadFile(path(uri))
	if err != nil {
		return ""
	}
	return string(b)
}

func path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return u.Path
}
