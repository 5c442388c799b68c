package lsp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"jcode/tools/lsp/protocol"
)

const (
	maxReports = 5000 // files
	maxItems   = 500  // of one file
)

// counts holds the problems of a file by what they say, because lines move with every edit.
type counts map[complaint]int

func countsOf(items []protocol.Diagnostic) counts {
	out := counts{}
	for _, d := range items {
		if d.Severity <= protocol.SeverityWarning {
			out[complaintOf(d)]++
		}
	}
	return out
}

// complaint is what a diagnostic says, wherever it is.
type complaint struct {
	severity      int
	code, message string
}

func complaintOf(d protocol.Diagnostic) complaint {
	return complaint{d.Severity, string(d.Code), d.Message}
}

// report is a server's last report on a file. That there is none is not the same as an empty one.
type report struct {
	items []protocol.Diagnostic
	// version is the version of the document that the report is about; -1 if the server doesn't
	// say.
	version int
	at      time.Time
	// repeats says that these are the problems of the report before, so this may be that one, sent again for
	// the new version.
	repeats bool
}

// isFor reports whether a report is about the present text of a document; nil is a file that is not open.
func (r *report) isFor(doc *document) bool {
	switch {
	case r == nil:
		return false
	case doc == nil:
		return true
	case r.version < 0:
		return !r.at.Before(doc.sent)
	}
	return r.version >= doc.version
}

// reported is what a server has reported of one file.
type reported struct {
	// Some servers report on their own, some when they are asked, some both: with different problems.
	pushed, pulled *report
	// told is the part of it that the model knows, or that existed before a change; nil if nothing is known.
	told counts
	// owed is a change whose answer did not come in time.
	owed *debt
}

// debt is a change of a file that a server has not answered yet.
type debt struct {
	session string
	settled bool // the server knew the project before the change
	lines   func(path string, line int) bool
}

// current returns the problems of the present text; ok is false if nothing was reported of it.
func (r *reported) current(doc *document) (items []protocol.Diagnostic, ok bool) {
	for _, part := range []*report{r.pushed, r.pulled} {
		if part.isFor(doc) {
			items, ok = append(items, part.items...), true
		}
	}
	return items, ok
}

// findings are what a server has reported, by file. The instance's lock guards them.
type findings struct {
	files map[string]*reported
	// hidden reports whether nothing of a file may be told.
	hidden func(path string) bool
	// based says that the server had answered for everything open before some earlier change: what it reports
	// of other files later is new.
	based bool
	// unread says that something was reported since the model was last told.
	unread bool
}

func newFindings(hidden func(string) bool) findings {
	return findings{files: map[string]*reported{}, hidden: hidden}
}

// of returns the entry of a file.
func (f *findings) of(path string) *reported {
	r := f.files[path]
	if r == nil {
		r = &reported{}
		f.files[path] = r
	}
	return r
}

// store keeps a report.
func (f *findings) store(path string, items []protocol.Diagnostic, version int, pulled bool) {
	if f.files[path] == nil && len(f.files) >= maxReports {
		return
	}
	for i := range items {
		if items[i].Severity == 0 {
			items[i].Severity = protocol.SeverityError // the server leaves the severity to the client
		}
	}
	r := &report{items: items[:min(len(items), maxItems)], version: version, at: time.Now()}
	file := f.of(path)
	f.unread = true
	if pulled {
		file.pulled = r
		return
	}
	if before := file.pushed; before != nil && (version < 0 || before.version < version) {
		found := countsOf(r.items)
		r.repeats = len(found) > 0 && maps.Equal(found, countsOf(before.items))
	}
	file.pushed = r
}

// answered reports whether the server has reported on the present text of all files.
func (f *findings) answered(docs map[string]*document, paths []string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return !f.answeredFor(docs, path) })
}

func (f *findings) answeredFor(docs map[string]*document, path string) bool {
	doc, r := docs[path], f.files[path]
	if doc == nil {
		return true
	}
	if r == nil {
		return false
	}
	_, ok := r.current(doc)
	return ok
}

// doubtful reports whether an answer may be one for the text before.
func (f *findings) doubtful(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		r := f.files[path]
		return r != nil && r.pushed != nil && (r.pushed.repeats || r.pushed.version < 0 && r.owed != nil)
	})
}

// owe records files whose change was not answered in time.
func (f *findings) owe(paths []string, d debt) {
	for _, path := range paths {
		f.of(path).owed = &d
	}
}

// debts returns the files whose change in a session was not answered in time, sorted; "" means all sessions.
func (f *findings) debts(session string) (paths []string) {
	for path, r := range f.files {
		if r.owed != nil && (session == "" || r.owed.session == session) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// settle forgets debts.
func (f *findings) settle(paths []string) {
	for _, path := range paths {
		if r := f.files[path]; r != nil {
			r.owed = nil
		}
	}
}

// absorb marks what is reported now as known: it existed before a change.
func (f *findings) absorb(docs map[string]*document) {
	for path, r := range f.files {
		if items, ok := r.current(docs[path]); ok && r.told == nil {
			r.told = countsOf(items)
		}
	}
}

// problem is one diagnostic of a file.
type problem struct {
	path string
	protocol.Diagnostic
}

// told is what is new since the model was last told.
type told struct {
	list  []problem
	older int  // problems that existed before
	doubt bool // some of the list may have existed before
}

// fresh returns what is new since the last time. touched are the files that were changed; for one
// of which nothing was known before, lines reports whether a line was changed. settled says that the
// server knew the project before. What a report says of an older text is left for the next one.
func (f *findings) fresh(docs map[string]*document, touched []string, settled bool, lines func(path string, line int) bool) (out told) {
	for path, r := range f.files {
		items, ok := r.current(docs[path])
		if !ok || f.hidden(path) {
			continue
		}
		known := countsOf(items)
		left := maps.Clone(r.told)
		for _, part := range []*report{r.pushed, r.pulled} {
			if part != nil && !part.isFor(docs[path]) {
				keep(known, r.told, part.items) // it will be reported again
			}
		}
		for _, d := range items {
			if d.Severity > protocol.SeverityWarning {
				continue
			}
			before, doubt := left[complaintOf(d)] > 0, false
			switch {
			case before:
				left[complaintOf(d)]--
			case r.told != nil:
			case slices.Contains(touched, path) && lines(path, d.Range.Start.Line):
			case slices.Contains(touched, path), !settled:
				before, doubt = d.Severity != protocol.SeverityError, d.Severity == protocol.SeverityError
			case !f.based: // the first change: an old warning may only have come late
				before = d.Severity != protocol.SeverityError
			}
			if before {
				out.older++
			} else {
				out.list = append(out.list, problem{path, d})
				out.doubt = out.doubt || doubt
			}
		}
		r.told = known
	}
	f.based = f.based || settled
	f.unread = false
	slices.SortFunc(out.list, byImportance)
	return out
}

// keep adds the told ones of the items.
func keep(known, told counts, items []protocol.Diagnostic) {
	for key, n := range countsOf(items) {
		if told[key] > 0 {
			known[key] = max(known[key], n)
		}
	}
}

// errors returns the number of errors in the open documents.
func (f *findings) errors(docs map[string]*document) (n int) {
	for path, doc := range docs {
		if r := f.files[path]; r != nil {
			for _, d := range r.last(doc) {
				if d.Severity == protocol.SeverityError {
					n++
				}
			}
		}
	}
	return n
}

// last returns the latest known problems, even if they are those of an older text.
func (r *reported) last(doc *document) (items []protocol.Diagnostic) {
	if items, ok := r.current(doc); ok {
		return items
	}
	for _, part := range []*report{r.pushed, r.pulled} {
		if part != nil {
			items = append(items, part.items...)
		}
	}
	return items
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
