package retrieval

import (
	"context"
	"fmt"
	"strings"

	"jcode/internal/text"
	"jcode/session"
	"jcode/tools/command"
)

// List implements command.Source.
func (r *Room) List() []command.Command {
	return []command.Command{{
		Name: "docs", Hint: verbs().Hint(), Description: "documents of this session that the model can search", Verbs: verbs(),
		Run:  func(ctx context.Context, args string) (command.Outcome, error) { return r.command(ctx, args, nil) },
		Work: r.command,
	}}
}

// Table names the verbs of /docs and of `jcode docs`.
func Table() command.Table {
	const thisSession, role = "in a terminal no session is open", "--role asks for those of a role"
	return command.Table{
		{Name: "add", Hint: "PATH|GLOB|ADDRESS …", Help: "index files, folders, globs or addresses for this session", Line: command.Said{
			Help: "index files, folders, globs or addresses for a session", Why: thisSession,
		}},
		{Name: "remove", Hint: "PATH|GLOB|ADDRESS …", Help: "take away what was added to this session", Line: command.Said{
			Help: "take away what was added to a session", Why: thisSession,
		}},
		{Name: "list", Help: "list the documents of this session with what is wrong with them", Line: command.Said{
			Help: "list the documents of a session or role with what is wrong with them", Why: role,
		}},
		{Name: "rebuild", Help: "read and index the documents again"},
		{Name: "search", Hint: "WORDS", Help: "show the passages that the model would find"},
	}
}

func verbs() command.Verbs { return Table().Verbs(nil, nil) }

func (r *Room) command(ctx context.Context, args string, progress func(string)) (command.Outcome, error) {
	verb, rest, _ := strings.Cut(strings.TrimSpace(args), " ")
	rest = strings.TrimSpace(rest)
	switch {
	case verb == "" || verb == "list":
		out, err := r.Describe(ctx)
		return command.Outcome{Page: "Documents", Notice: out}, err
	case verb == "add" && rest != "":
		if err := r.Add(ctx, words(rest)...); err != nil {
			return command.Outcome{}, err
		}
		return r.finish(ctx, progress)
	case verb == "remove" && rest != "":
		for _, source := range words(rest) {
			if err := r.Remove(ctx, source); err != nil {
				return command.Outcome{}, err
			}
		}
		return r.finish(ctx, progress)
	case verb == "rebuild" && rest == "":
		r.mu.Lock()
		none := len(r.using) == 0
		r.mu.Unlock()
		if none {
			return command.Outcome{Notice: "There are no documents: /docs add PATH adds some to this session."}, nil
		}
		r.Rebuild()
		return r.finish(ctx, progress)
	case verb == "search" && rest != "":
		hits, note, err := r.Search(ctx, rest, 0)
		if err != nil {
			return command.Outcome{}, err
		}
		var b strings.Builder
		for _, h := range hits {
			fmt.Fprintf(&b, "%s:%d-%d %s\n", h.Path, h.First, h.Last, h.Heading)
			fmt.Fprintf(&b, "    %s\n", text.Truncate(text.OneLine(h.Text), 160, "…"))
		}
		if len(hits) == 0 {
			b.WriteString("No matches.\n")
		}
		return command.Outcome{Page: "Found: " + rest, Notice: strings.TrimSpace(b.String() + note)}, nil
	}
	return command.Outcome{Page: "Documents", Notice: verbs().Lines("docs")}, nil
}

// words splits arguments at spaces; quoted text is one word.
func words(s string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	in := false
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				out = append(out, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}

// finish waits for the index; interrupting the wait stops the work.
func (r *Room) finish(ctx context.Context, progress func(string)) (command.Outcome, error) {
	if err := r.Wait(ctx, progress); err != nil {
		r.Stop()
		return command.Outcome{Notice: "Stopped. What is indexed can be searched; /docs rebuild continues."}, nil
	}
	out, err := r.Describe(ctx)
	return command.Outcome{Notice: out}, err
}

// Describe lists the collections in use: their sources, how many documents are indexed, and the
// problems of each.
func (r *Room) Describe(ctx context.Context) (string, error) {
	r.mu.Lock()
	type row struct {
		Collection
		state
	}
	var rows []row
	for _, owner := range r.owners() {
		k := r.using[owner]
		rows = append(rows, row{k.Collection, k.state})
	}
	r.mu.Unlock()
	if len(rows) == 0 {
		return "There are no documents: /docs add PATH adds some to this session, `documents:` in a role's file to the role.", nil
	}
	var b strings.Builder
	for _, c := range rows {
		docs, err := r.opts.Index.List(ctx, c.Owner)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "Documents of %s: %s\n", c.Name, strings.Join(c.Sources, ", "))
		totals, err := r.totals(ctx, c.Owner, docs)
		if err != nil {
			return "", err
		}
		b.WriteString("  " + totals + "\n")
		if line := c.progress(c.Name); line != "" {
			b.WriteString("  " + line + "\n")
		}
		if c.err != nil {
			b.WriteString("  " + c.err.Error() + "\n")
		}
		const most = 30
		for i, d := range docs {
			if i == most {
				fmt.Fprintf(&b, "  … and %d more\n", len(docs)-most)
				break
			}
			line := "  " + r.shown(d.Path)
			if d.Problem != "" {
				line += ": " + d.Problem
			} else {
				line += ", " + text.Count(d.Passages, "passage")
			}
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSpace(b.String()), nil
}

func (r *Room) totals(ctx context.Context, owner string, docs []session.Document) (string, error) {
	passages, broken := 0, 0
	for _, d := range docs {
		passages += d.Passages
		if d.Problem != "" {
			broken++
		}
	}
	out := fmt.Sprintf("%s, %s", text.Count(len(docs), "document"), text.Count(passages, "passage"))
	if e, err := r.openEmbedder(); err != nil {
		out += "; no embeddings: " + err.Error()
	} else if e != nil {
		vectors, err := r.opts.Index.CountVectors(ctx, []string{owner}, e.Model())
		if err != nil {
			return "", err
		}
		out += fmt.Sprintf(", %d with an embedding of %s", vectors, e.Model())
	}
	if broken > 0 {
		out += fmt.Sprintf(", %d with a problem", broken)
	}
	return out, nil
}
