package review

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	// SARIF is a log in the Static Analysis Results Interchange Format.
	SARIF struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Bases   map[string]sarifBase `json:"originalUriBaseIds"`
		Results []sarifResult        `json:"results"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Default sarifRank `json:"defaultConfiguration"`
	}
	sarifRank struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact sarifArtifact `json:"artifactLocation"`
			Region   sarifRegion   `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// rootBase names the folder to which paths are relative.
const rootBase = "ROOT"

// SARIF returns a report for code scanning.
func (r Report) SARIF(version string) SARIF {
	run := sarifRun{Results: []sarifResult{}, Bases: map[string]sarifBase{rootBase: {sarifText{"the top of the repository"}}}}
	run.Tool.Driver = sarifDriver{Name: "jcode review", Version: version, Rules: rules()}
	for _, f := range r.Findings {
		index := slices.Index(severities(), f.Severity)
		artifact := sarifArtifact{URI: (&url.URL{Path: f.File}).EscapedPath(), Base: rootBase}
		result := sarifResult{RuleID: f.Severity, RuleIndex: index, Level: run.Tool.Driver.Rules[index].Default.Level, Message: sarifText{cmp.Or(strings.TrimSpace(f.Title+"\n\n"+f.Reason), "A defect")}}
		at := sarifLocation{}
		at.Physical.Artifact, at.Physical.Region = artifact, sarifRegion{StartLine: f.Line, EndLine: f.EndLine}
		result.Locations = []sarifLocation{at}
		if f.Replacement != nil {
			lines := strings.Split(f.Before, "\n")
			end := len([]rune(lines[len(lines)-1])) + 1
			result.Fixes = []sarifFix{{sarifText{"suggested by the review"}, []sarifChange{{artifact, []sarifReplacement{{
				sarifRegion{f.Line, 1, f.EndLine, end}, sarifText{strings.TrimSuffix(*f.Replacement, "\n")},
			}}}}}}
		}
		run.Results = append(run.Results, result)
	}
	return SARIF{Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func rules() (out []sarifRule) {
	for i, rule := range []struct{ level, means string }{
		{"error", "Must be fixed before anything else"}, {"error", "Wrong in ordinary use"}, {"warning", "Wrong in rare cases"}, {"note", "Minor"},
	} {
		out = append(out, sarifRule{ID: severities()[i], Short: sarifText{rule.means}, Default: sarifRank{rule.level}})
	}
	return out
}
