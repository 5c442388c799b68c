package retrieval

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

//go:embed docs_search.md
var searchText string

// SearchTool is the name of the tool.
const SearchTool = "docs_search"

// maxAbout bounds what the tool's description says of the documents, in bytes.
const maxAbout = 400

type searchTool struct {
	room  *Room
	about string
}

// Spec implements tools.Tool.
func (t searchTool) Spec() tools.Spec {
	return tools.Spec{
		Name: SearchTool, Description: strings.TrimSpace(searchText) + "\n" + t.about,
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what is asked, in words"},"top":{"type":"integer","minimum":1,"maximum":20,"description":"passages at most, default 6"}},"required":["query"]}`),
		Aliases:    map[string]string{"q": "query", "question": "query", "limit": "top"},
		ReadOnly:   true, Trusted: true, Needs: tools.CapRead, Group: tools.GroupBuiltin, Beside: true,
	}
}

type searchArgs struct {
	Query string `json:"query"`
	Top   int    `json:"top"`
}

// Plan implements tools.Planner: what may be read was judged when it was indexed.
func (t searchTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	var a searchArgs
	if err := call.Decode(&a); err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{Summary: "Search the documents: " + text.Truncate(text.OneLine(a.Query), 80, "…")}, nil
}

// Run implements tools.Tool.
func (t searchTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var a searchArgs
	if err := call.Decode(&a); err != nil {
		return tools.Result{}, err
	}
	if strings.TrimSpace(a.Query) == "" {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "query is empty: say what you look for")
	}
	hits, note, err := t.room.Search(ctx, a.Query, a.Top)
	if err != nil {
		return tools.Result{}, err
	}
	var b strings.Builder
	for _, h := range hits {
		fmt.Fprintf(&b, "%s:%d-%d", h.Path, h.First, h.Last)
		if h.Heading != "" {
			b.WriteString(" (" + h.Heading + ")")
		}
		if h.Note != "" {
			b.WriteString(" [" + h.Note + "]")
		}
		b.WriteString("\n" + h.Text + "\n\n")
	}
	if len(hits) == 0 {
		b.WriteString("No passage fits. Try other words, or fewer.\n")
	}
	b.WriteString(note)
	if hits == nil {
		hits = []Hit{}
	}
	return tools.Result{
		Text: strings.TrimSpace(b.String()), Data: map[string]any{"hits": hits},
		Display: tools.Display{Summary: text.Count(len(hits), "passage")},
	}, nil
}

// offer registers the tool again if its description of the documents changed, and removes it
// when there are none any more.
func (r *Room) offer() {
	r.offers.Lock()
	defer r.offers.Unlock()
	if r.ctx.Err() != nil || r.opts.Offer == nil {
		return
	}
	r.mu.Lock()
	owners := r.owners()
	any, whole := false, true
	for _, k := range r.using {
		any = any || len(k.Sources) > 0
		whole = whole && k.whole
	}
	r.mu.Unlock()
	about := ""
	if any {
		docs, err := r.opts.Index.List(r.ctx, owners...)
		if err != nil {
			return // whoever searches is told
		}
		about = r.about(docs, whole)
	}
	r.mu.Lock()
	same := about == r.offered
	r.offered = about
	r.mu.Unlock()
	switch {
	case same:
	case about == "":
		r.opts.Offer(nil)
	default:
		r.opts.Offer(searchTool{r, about})
	}
}

// about says in a line what the documents are about. Unless whole, there are more of them.
func (r *Room) about(docs []session.Document, whole bool) string {
	var names []string
	left := maxAbout
	for _, d := range docs {
		name := r.shown(d.Path)
		if d.Title != "" {
			name = d.Title + " (" + name + ")"
		}
		name = text.Truncate(text.OneLine(name), 100, "…")
		if left -= len(name) + 2; left < 0 {
			break
		}
		names = append(names, name)
	}
	out := "Documents: being indexed."
	if len(docs) > 0 {
		out = fmt.Sprintf("%s: %s", text.Count(len(docs), "document"), strings.Join(names, ", "))
	}
	if more := len(docs) - len(names); more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	if !whole && len(docs) > 0 {
		out += "; others are being indexed"
	}
	return out
}
