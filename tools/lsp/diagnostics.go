package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jcode/internal/text"
)

const (
	waitLimit   = 2 * time.Second        // for the answer to a change
	silence     = 500 * time.Millisecond // the same, for a server that left changes unanswered before
	maxSilences = 2                      // unanswered changes after which the server counts as one that often has nothing to say
	minSettle   = 60 * time.Millisecond  // after an answer, for what follows it
	maxSettle   = 500 * time.Millisecond // the same, for a slow server, or if the answer repeats the one before
	maxReports  = 5000                   // files
	maxItems    = 500                    // of one file
	maxTold     = 10                     // in a result
)

// counts holds the problems of a file by their text, because lines move with every edit.
type counts map[string]int

func countsOf(items []diagnostic) counts {
	out := counts{}
	for _, d := range items {
		if d.Severity <= severityWarning {
			out[d.key()]++
		}
	}
	return out
}

func (d diagnostic) key() string {
	return fmt.Sprintf("%d\x00%s\x00%s", d.Severity, d.Code, d.Message)
}

// published handles a server's report on a file.
func (in *instance) published(params json.RawMessage) {
	var p publishedDiagnostics
	if json.Unmarshal(params, &p) != nil {
		return
	}
	path := pathOf(p.URI)
	if path == "" {
		return
	}
	version := -1
	if p.Version != nil {
		version = *p.Version
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.store(path, p.Diagnostics, version)
	if in.docs[path] != nil {
		in.silences = 0 // it answers, if late
	}
	in.tell()
}

// store stores a report. The caller holds the lock.
func (in *instance) store(path string, items []diagnostic, version int) {
	if _, known := in.reports[path]; !known && len(in.reports) >= maxReports {
		return
	}
	for i := range items {
		if items[i].Severity == 0 {
			items[i].Severity = severityError // the server leaves the severity to the client
		}
	}
	r := &report{items: items[:min(len(items), maxItems)], version: version, at: time.Now()}
	if before := in.reports[path]; before != nil && before.version < version {
		found := countsOf(r.items)
		r.repeats = len(found) > 0 && maps.Equal(found, countsOf(before.items))
	}
	in.reports[path] = r
}

// answered reports whether the server has reported on the versions that were sent at a time. The
// caller holds the lock.
func (in *instance) answered(paths []string, sent time.Time) bool {
	for _, path := range paths {
		doc, r := in.docs[path], in.reports[path]
		if doc == nil {
			continue
		}
		if r == nil || r.version >= 0 && r.version < doc.version || r.version < 0 && r.at.Before(sent) {
			return false
		}
	}
	return true
}

// repeated reports whether an answer may be one for the text before. The caller holds the lock.
func (in *instance) repeated(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return in.reports[path] != nil && in.reports[path].repeats })
}

// await waits for the answer to what was sent, for a limited time. late says that it may still
// come.
func (in *instance) await(ctx context.Context, paths []string, sent time.Time) (late bool) {
	ctx, cancel := context.WithDeadline(ctx, sent.Add(in.owner.wait()))
	defer cancel()
	var first time.Time // when it answered
	began := sent       // from when on it could answer
	for {
		in.mu.Lock()
		news, busy, silences, repeated := in.news, len(in.busy) > 0, in.silences, in.repeated(paths)
		done := in.state != StateReady
		if in.answered(paths, sent) && first.IsZero() {
			first, in.silences = time.Now(), 0
		}
		in.mu.Unlock()
		if done {
			return false
		}
		if in.can(in.caps.DocumentDiagnostic, "textDocument/diagnostic") { // it may announce this only now
			return !in.pull(ctx)
		}
		wait := in.owner.wait()
		switch {
		case busy:
			began = time.Now()
		case !first.IsZero() && repeated:
			wait = maxSettle
		case !first.IsZero():
			wait = max(minSettle, min(first.Sub(began), maxSettle))
		case silences >= maxSilences:
			wait = silence - time.Since(began)
		}
		timer := time.NewTimer(max(wait, 0))
		select {
		case <-news:
		case <-timer.C:
			timer.Stop()
			return first.IsZero() && in.unanswered()
		case <-ctx.Done():
			timer.Stop()
			return busy || first.IsZero() && in.unanswered()
		}
		timer.Stop()
	}
}

// unanswered records that a change was not answered in time, and reports whether waiting for the
// answer is worthwhile: some servers say nothing if nothing has changed.
func (in *instance) unanswered() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.silences++
	return in.silences <= maxSilences
}

// pull requests the reports of all open documents, and reports whether the server answered.
func (in *instance) pull(ctx context.Context) bool {
	all := true
	for _, path := range in.openPaths() {
		var result pulledDiagnostics
		in.mu.Lock()
		doc := in.docs[path]
		in.mu.Unlock()
		if doc == nil {
			continue
		}
		err := in.asked(ctx, "textDocument/diagnostic", map[string]any{"textDocument": textDocument{uriOf(path)}}, &result)
		if err != nil {
			all = false
			continue
		}
		in.mu.Lock()
		if result.Kind != "unchanged" {
			in.store(path, result.Items, doc.version)
		}
		for uri, related := range result.Related {
			if p := pathOf(uri); p != "" && related.Kind != "unchanged" {
				in.store(p, related.Items, -1)
			}
		}
		in.mu.Unlock()
	}
	return all
}

// asked makes a call, and repeats it if the server aborted it because something changed.
func (in *instance) asked(ctx context.Context, method string, params, result any) error {
	for try := 0; ; try++ {
		err := in.conn.call(ctx, method, params, result)
		werr, ok := errors.AsType[*wireError](err)
		if !ok || try == 3 || werr.Code != codeContentModified && werr.Code != codeServerCancelled {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// problem is one diagnostic of a file.
type problem struct {
	path string
	diagnostic
}

// fresh returns what is new since the last time, and how many problems there were before. touched
// are the files that were changed; for a file of which nothing was known, lines reports whether a
// line was changed. settled says that the server knew the project before. If it did not, errors
// in other files count as new, and doubt is set.
func (in *instance) fresh(touched []string, settled bool, lines func(path string, line int) bool) (list []problem, older int, doubt bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for path, r := range in.reports {
		told, known := in.told[path]
		left := maps.Clone(told)
		for _, d := range r.items {
			if d.Severity > severityWarning {
				continue
			}
			before := left[d.key()] > 0
			if before {
				left[d.key()]--
			}
			if !known {
				switch {
				case slices.Contains(touched, path):
					before = !lines(path, d.Range.Start.Line)
				case !settled && d.Severity == severityError:
					doubt = true
				default:
					before = !settled
				}
			}
			if before {
				older++
			} else {
				list = append(list, problem{path, d})
			}
		}
		in.told[path] = countsOf(r.items)
	}
	slices.SortFunc(list, byImportance)
	return list, older, doubt
}

// byImportance orders errors before warnings, then by place.
func byImportance(a, b problem) int {
	return cmp.Or(
		cmp.Compare(a.Severity, b.Severity),
		strings.Compare(a.path, b.path),
		cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
		cmp.Compare(a.Range.Start.Character, b.Range.Start.Character),
	)
}

// absorb marks what is reported now as known: it existed before a change.
func (in *instance) absorb() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for path, r := range in.reports {
		if _, known := in.told[path]; !known {
			in.told[path] = countsOf(r.items)
		}
	}
}

// line formats a problem.
func (in *instance) line(p problem) string {
	code := strings.Trim(string(p.Code), `"`)
	if strings.HasPrefix(code, "{") || code == "null" {
		code = ""
	}
	s := fmt.Sprintf("%s:%d:%d ", in.owner.shown(p.path), p.Range.Start.Line+1, p.Range.Start.Character+1)
	if p.Severity == severityWarning {
		s += "warning: "
	}
	s += text.Cut(text.OneLine(p.Message), 300)
	if code != "" {
		s += " [" + text.Cut(text.OneLine(code), 60) + "]"
	}
	return s
}

// worded returns the lines for a result, the most important first, or "" if nothing is new.
func (in *instance) worded(list []problem, older int, doubt, late bool) string {
	var b strings.Builder
	if len(list) > 0 {
		fmt.Fprintf(&b, "[%s: %s]\n", in.server.Name, tally(list, older, doubt))
		for _, p := range list[:min(len(list), maxTold)] {
			b.WriteString(in.line(p) + "\n")
		}
		if more := len(list) - maxTold; more > 0 {
			fmt.Fprintf(&b, "… and %d more: see the tool diagnostics\n", more)
		}
	}
	if late {
		fmt.Fprintf(&b, "[%s has not answered yet: what it finds comes with a later result, or ask with the tool diagnostics]\n", in.server.Name)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func tally(list []problem, older int, doubt bool) string {
	errs, warnings := 0, 0
	for _, p := range list {
		if p.Severity == severityError {
			errs++
		} else {
			warnings++
		}
	}
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{{errs, "error"}, {warnings, "warning"}} {
		switch {
		case c.n > 0 && doubt:
			parts = append(parts, text.Count(c.n, c.noun))
		case c.n > 0:
			parts = append(parts, text.Count(c.n, "new "+c.noun))
		}
	}
	if older > 0 {
		parts = append(parts, fmt.Sprintf("%d older", older))
	}
	if doubt {
		parts = append(parts, "some may be older than this edit, which came while it was reading the project")
	}
	return strings.Join(parts, ", ")
}
