package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// materials writes the bill of materials in SPDX 2.3: the modules that the targets link,
// read from the binaries themselves.
func (r *release) materials(_ context.Context, stage string) error {
	type spdxPackage struct {
		ID       string              `json:"SPDXID"`
		Name     string              `json:"name"`
		Version  string              `json:"versionInfo"`
		Download string              `json:"downloadLocation"`
		Analyzed bool                `json:"filesAnalyzed"`
		Licence  string              `json:"licenseConcluded"`
		Declared string              `json:"licenseDeclared"`
		Rights   string              `json:"copyrightText"`
		Refs     []map[string]string `json:"externalRefs,omitempty"`
	}
	type relation struct {
		From string `json:"spdxElementId"`
		To   string `json:"relatedSpdxElement"`
		Type string `json:"relationshipType"`
	}
	none := "NOASSERTION"
	pack := func(id, name, version string) spdxPackage {
		p := spdxPackage{ID: id, Name: name, Version: version, Download: none, Licence: none, Declared: none, Rights: none}
		p.Refs = []map[string]string{{
			"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + name + "@" + version,
		}}
		return p
	}
	modules := map[string]string{}
	for _, t := range r.targets {
		info, err := buildinfo.ReadFile(built(stage, t))
		if err != nil {
			return err
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[m.Path] = m.Version
		}
	}
	own := pack("SPDXRef-jcode", "jcode", r.version)
	own.Licence, own.Declared, own.Rights = "MIT", "MIT", "Copyright (c) 2026 The jcode authors"
	packages := []spdxPackage{own, pack("SPDXRef-go", "stdlib", strings.TrimPrefix(runtime.Version(), "go"))}
	relations := []relation{{"SPDXRef-DOCUMENT", "SPDXRef-jcode", "DESCRIBES"}, {"SPDXRef-jcode", "SPDXRef-go", "DEPENDS_ON"}}
	for i, name := range slices.Sorted(maps.Keys(modules)) {
		id := fmt.Sprintf("SPDXRef-module-%d", i+1)
		packages = append(packages, pack(id, name, modules[name]))
		relations = append(relations, relation{"SPDXRef-jcode", id, "DEPENDS_ON"})
	}
	return r.addJSON("jcode-"+r.version+".spdx.json", map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "jcode-" + r.version,
		"documentNamespace": "https://spdx.org/spdxdocs/jcode-" + r.version + "-" + r.commit,
		"creationInfo":      map[string]any{"created": r.stamp.Format("2006-01-02T15:04:05Z"), "creators": []string{"Tool: jcode-release"}},
		"packages":          packages, "relationships": relations,
	})
}

// provenance says what the files were built from, as an unsigned in-toto statement in the
// form of SLSA: whoever publishes the release signs it.
func (r *release) provenance(context.Context, string) error {
	var subjects []map[string]any
	for _, name := range r.files {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		subjects = append(subjects, map[string]any{"name": name, "digest": map[string]string{"sha256": sum}})
	}
	targets := make([]string, len(r.targets))
	for i, t := range r.targets {
		targets[i] = t.os + "/" + t.arch
	}
	return r.addJSON("jcode-"+r.version+".intoto.json", map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1", "subject": subjects,
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            "https://go.dev/cmd/go",
				"externalParameters":   map[string]any{"version": r.version, "targets": targets, "flags": "-trimpath -buildvcs=false -ldflags '-s -w -buildid='"},
				"resolvedDependencies": []map[string]any{{"uri": "git+jcode", "digest": map[string]string{"gitCommit": r.commit}}, {"uri": "pkg:generic/go@" + strings.TrimPrefix(runtime.Version(), "go")}},
			},
			"runDetails": map[string]any{"builder": map[string]string{"id": "scripts/release"}},
		},
	})
}

func (r *release) addJSON(name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return r.add(name, append(b, '\n'))
}

func (r *release) sum(name string) (string, error) {
	data, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// sums writes the checksums of all files, in the form of sha256sum.
func (r *release) sums(context.Context, string) error {
	var b strings.Builder
	slices.Sort(r.files)
	for _, name := range r.files {
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(b.String()), 0o644)
}
