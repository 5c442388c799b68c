package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fake is a release of a binary that was not compiled.
func fake(t *testing.T) (*release, string, []item) {
	t.Helper()
	r := &release{
		root: ".", out: t.TempDir(), version: "1.2.3", commit: "abc", stamp: time.Unix(1_700_000_000, 0).UTC(), url: "https://example.org/r",
		targets: []target{{"linux", "amd64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}},
	}
	stage := t.TempDir()
	page := filepath.Join(stage, "page")
	for _, path := range []string{page} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, target := range r.targets {
		path := built(stage, target)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("binary"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r, stage, []item{{from: page, name: "docs/page", installed: "/usr/share/doc/jcode/page", mode: 0o644}}
}

func TestArchivesHaveTheSameBytesWhateverTheFilesOnDiskLookLike(t *testing.T) {
	var archives [2][]byte
	for i := range archives {
		r, stage, shared := fake(t)
		if err := os.Chtimes(shared[0].from, time.Now(), time.Now().Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for _, target := range r.targets {
			if err := r.archive(target, stage, shared); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range r.files {
			data, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				t.Fatal(err)
			}
			archives[i] = append(archives[i], data...)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the archives differ")
	}
}

func TestArchiveHoldsTheProgramAndItsPages(t *testing.T) {
	r, stage, shared := fake(t)
	if err := r.archive(target{"linux", "amd64"}, stage, shared); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(r.out, "jcode-1.2.3-linux-amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]int64{}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[h.Name] = h.Mode
	}
	if modes["jcode"] != 0o755 || modes["docs/page"] != 0o644 {
		t.Errorf("archive %v", modes)
	}
}

// Whoever reads the pages of a package needs no other source for what they link to.
func TestLinksInPackagedPagesLeadIntoThePackage(t *testing.T) {
	items, err := (&release{root: ".."}).pages()
	if err != nil {
		t.Fatal(err)
	}
	packed, installed := map[string]bool{}, map[string]bool{}
	for _, it := range items {
		packed[it.name], installed[it.installed] = true, true
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)|src="([^":]+)"`)
	n := 0
	for _, it := range items {
		if filepath.Ext(it.from) != ".md" {
			continue
		}
		data, err := os.ReadFile(it.from)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			target := m[1] + m[2]
			n++
			if !packed[path.Join(path.Dir(it.name), target)] || !installed[path.Join(path.Dir(it.installed), target)] {
				t.Errorf("%s links to %s, which is not in the package", it.name, target)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d links were found", n)
	}
}

func TestManifestsNameEachArchiveWithItsChecksum(t *testing.T) {
	r, stage, shared := fake(t)
	for _, target := range r.targets {
		if err := r.archive(target, stage, shared); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.manifests(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	if err := r.sums(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	sums := read("SHA256SUMS")
	for file, targets := range map[string][]target{
		"jcode.rb":                   {{"darwin", "amd64"}, {"darwin", "arm64"}},
		"jcode.scoop.json":           {{"windows", "amd64"}, {"windows", "arm64"}},
		"jcode.jcode.installer.yaml": {{"windows", "amd64"}, {"windows", "arm64"}},
	} {
		text := strings.ToLower(read(file))
		for _, target := range targets {
			sum, err := r.sum(r.archiveName(target))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, sum) || !strings.Contains(sums, sum+"  "+r.archiveName(target)+"\n") {
				t.Errorf("%s or SHA256SUMS lacks %s of %s/%s", file, sum, target.os, target.arch)
			}
		}
	}
	var scoop map[string]any
	if err := json.Unmarshal([]byte(read("jcode.scoop.json")), &scoop); err != nil || scoop["version"] != "1.2.3" {
		t.Errorf("scoop %v, %v", scoop, err)
	}
}

func TestPackageDescriptionPutsEachFileInItsPlace(t *testing.T) {
	r, _, shared := fake(t)
	shared = append(shared, item{from: "_jcode", installed: "/site/_jcode", debian: "/vendor/_jcode", mode: 0o644})
	text := string(r.nfpmConfig(target{"linux", "arm64"}, shared))
	for _, want := range []string{
		"arch: arm64", `dst: "/usr/share/doc/jcode/page", file_info`, `version: "1.2.3"`, "mode: 0644",
		`dst: "/vendor/_jcode", packager: deb`, `dst: "/site/_jcode", packager: rpm`, `dst: "/site/_jcode", packager: apk`, `dst: "/site/_jcode", packager: archlinux`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the description lacks %s:\n%s", want, text)
		}
	}
}
