package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// packed returns the pages of the archives and of the packages, as .goreleaser.yaml names them: by their names there,
// with where they come from.
func packed(t *testing.T) (archive, installed map[string]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type file struct{ Src, Dst string }
	var config struct {
		Archives []struct{ Files []file }
		Nfpms    []struct{ Contents []file }
	}
	if err := yaml.Unmarshal(data, &config); err != nil || len(config.Archives) != 1 || len(config.Nfpms) != 1 {
		t.Fatal(err, len(config.Archives), len(config.Nfpms))
	}
	archive, installed = map[string]string{}, map[string]string{}
	for _, set := range []struct {
		files []file
		into  map[string]string
	}{{config.Archives[0].Files, archive}, {config.Nfpms[0].Contents, installed}} {
		for _, f := range set.files {
			if f.Src == "" { // a folder
				continue
			}
			found, err := filepath.Glob(filepath.Join("..", f.Src))
			if err != nil || len(found) == 0 && !strings.HasPrefix(f.Src, "build/") {
				t.Errorf("%s is nowhere: %v", f.Src, err)
			}
			for _, from := range found {
				name := filepath.ToSlash(from[len("../"):])
				switch {
				case f.Dst != "" && strings.HasSuffix(f.Dst, "/"):
					name = path.Join(f.Dst, path.Base(name))
				case f.Dst != "":
					name = f.Dst
				}
				set.into[name] = from
			}
		}
	}
	return archive, installed
}

// Whoever reads the pages of a package needs no other source for what they link to.
func TestLinksInPackagedPagesLeadIntoThePackage(t *testing.T) {
	archive, installed := packed(t)
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)|src="([^":]+)"`)
	for what, files := range map[string]map[string]string{"archive": archive, "package": installed} {
		n := 0
		for name, from := range files {
			if filepath.Ext(from) != ".md" {
				continue
			}
			data, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range link.FindAllStringSubmatch(string(data), -1) {
				target := m[1] + m[2]
				n++
				if files[path.Join(path.Dir(name), target)] == "" {
					t.Errorf("%s: %s links to %s, which is not in it", what, name, target)
				}
			}
		}
		if n < 100 {
			t.Errorf("%s: only %d links were found", what, n)
		}
	}
}

func TestABillOfMaterialsNamesTheModulesOfAProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program")
	}
	program := filepath.Join(t.TempDir(), "jcode")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	document := filepath.Join(t.TempDir(), "p.spdx.json")
	if err := run(t.Context(), []string{"materials", "1.2.3", "abc", "yesterday", program, document}); err == nil {
		t.Error("a bill without a time is written")
	}
	if err := run(t.Context(), []string{"materials", "1.2.3", "abc", "1700000000", program, document}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Packages []struct{ Name, VersionInfo string }
		Info     struct{ Created string } `json:"creationInfo"`
	}
	if err := json.Unmarshal(data, &bill); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, p := range bill.Packages {
		names[p.Name] = p.VersionInfo
	}
	if names["jcode"] != "1.2.3" || names["modernc.org/sqlite"] == "" || names["stdlib"] != strings.TrimPrefix(runtime.Version(), "go") || bill.Info.Created != "2023-11-14T22:13:20Z" {
		t.Errorf("%s", data)
	}
}

func TestAProgramThatHasGrownTooLargeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := size(path); err != nil {
		t.Error(err)
	}
	if err := os.Truncate(path, maxBinary+1); err != nil {
		t.Fatal(err)
	}
	if err := size(path); err == nil {
		t.Error("it is accepted")
	}
}

// The version of a release is the one that the program says.
func TestReleasesHaveTheVersionOfTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a script for bash")
	}
	source, err := os.ReadFile(filepath.Join("..", "cli", "cli.go"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^const version = "(.+)"$`).FindStringSubmatch(string(source))
	out, err := exec.CommandContext(t.Context(), filepath.Join("..", "scripts", "release"), "version").Output()
	if err != nil || want == nil || strings.TrimSpace(string(out)) != want[1] {
		t.Errorf("%s %v %v", out, err, want)
	}
}
