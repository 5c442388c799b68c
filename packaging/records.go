package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// built is a version, with its commit.
type built struct {
	version, commit string
	at              time.Time
}

// materials writes the bill of materials of a program in SPDX 2.3: the modules that it links, read from the program
// itself.
func materials(of built, program, document string) error {
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
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	modules := map[string]string{}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules[m.Path] = m.Version
	}
	own := pack("SPDXRef-jcode", "jcode", of.version)
	own.Licence, own.Declared, own.Rights = "MIT", "MIT", "Copyright (c) 2026 The jcode authors"
	packages := []spdxPackage{own, pack("SPDXRef-go", "stdlib", strings.TrimPrefix(runtime.Version(), "go"))}
	relations := []relation{{"SPDXRef-DOCUMENT", "SPDXRef-jcode", "DESCRIBES"}, {"SPDXRef-jcode", "SPDXRef-go", "DEPENDS_ON"}}
	for i, name := range slices.Sorted(maps.Keys(modules)) {
		id := fmt.Sprintf("SPDXRef-module-%d", i+1)
		packages = append(packages, pack(id, name, modules[name]))
		relations = append(relations, relation{"SPDXRef-jcode", id, "DEPENDS_ON"})
	}
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": strings.TrimSuffix(filepath.Base(document), ".spdx.json"),
		"documentNamespace": "https://spdx.org/spdxdocs/" + filepath.Base(document) + "-" + of.commit,
		"creationInfo":      map[string]any{"created": of.at.Format(time.RFC3339), "creators": []string{"Tool: jcode-packaging"}},
		"packages":          packages, "relationships": relations,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(text, '\n'), 0o644)
}
