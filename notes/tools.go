package notes

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/tools"
)

//go:embed remember.md
var rememberText string

//go:embed recall.md
var recallText string

// The names of the tools.
const (
	RememberTool = "remember"
	RecallTool   = "recall"
)

// Said is something that was said in an earlier session.
type Said struct {
	Session string    `json:"session"`
	Title   string    `json:"title"`
	At      time.Time `json:"at"`
	// Message is the message's number, 0 for the title; Role is user or assistant.
	Message int64  `json:"message,omitempty"`
	Role    string `json:"role,omitempty"`
	Text    string `json:"text"`
}

// Judgement is what a program knows of a note that a model wants to keep.
type Judgement struct {
	By   Author
	From Origin
	// Ask says why a person must see the note whatever was allowed, a line for each reason; none if what the
	// person allowed in general holds.
	Ask []string
}

// Host is what the tools need of the conversation that they work for.
type Host interface {
	// Books returns the books that a caller may use; none if it may use no notes.
	Books(caller tools.Caller) []About
	// Refuse returns why nothing of this conversation may be kept, nil if it may.
	Refuse(caller tools.Caller) error
	// Judge says whose a text is, and what speaks against keeping it unseen.
	Judge(caller tools.Caller, note string) Judgement
	// Said searches earlier sessions.
	Said(ctx context.Context, caller tools.Caller, question string, limit int) ([]Said, error)
	// Found is called with the notes that a search gave to a model.
	Found(ctx context.Context, caller tools.Caller, found []Note)
	// Kept is called with a note that was added.
	Kept(n Note)
}

// Remember returns the tool that adds notes.
func Remember(s *Store, h Host) tools.Tool { return rememberTool{s, h} }

// Recall returns the tool that finds notes and earlier sessions.
func Recall(s *Store, h Host) tools.Tool { return recallTool{s, h} }

type rememberTool struct {
	store *Store
	host  Host
}

// Spec implements tools.Tool.
func (t rememberTool) Spec() tools.Spec {
	return tools.Spec{
		Name: RememberTool, Description: strings.TrimSpace(rememberText),
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"text":{"type":"string","description":"the note: one sentence, at most 500 bytes"},` +
			`"topic":{"type":"string","description":"a word or two, such as testing; notes of a topic are kept together"},` +
			`"about":{"type":"string","enum":["project","user"],"description":"user: a preference for all projects; default project"},` +
			`"files":{"type":"array","items":{"type":"string"},"description":"files of the project that it depends on: the note is marked when they change"},` +
			`"replaces":{"type":"string","description":"ID of an earlier note that this one replaces"}},"required":["text"]}`),
		Aliases: map[string]string{"note": "text", "content": "text", "memory": "text", "fact": "text"},
		Trusted: true, Needs: tools.CapWrite, Group: tools.GroupBuiltin, Serial: "notes",
	}
}

type rememberArgs struct {
	Text     string   `json:"text"`
	Topic    string   `json:"topic"`
	About    string   `json:"about"`
	Files    []string `json:"files"`
	Replaces string   `json:"replaces"`
}

// fresh returns the note that a call means, if its caller may keep it.
func (t rememberTool) fresh(call tools.Call) (New, Judgement, error) {
	var a rememberArgs
	if err := call.Decode(&a); err != nil {
		return New{}, Judgement{}, err
	}
	if err := t.host.Refuse(call.Caller); err != nil {
		return New{}, Judgement{}, tools.Errorf(tools.KindDenied, "not kept: %w", err)
	}
	about := bookOf(About(a.About))
	if err := mayUse(t.host.Books(call.Caller), about); err != nil {
		return New{}, Judgement{}, err
	}
	judged := t.host.Judge(call.Caller, a.Text)
	return New{Text: a.Text, Topic: a.Topic, About: about, By: judged.By, From: judged.From, Files: a.Files, Replaces: a.Replaces}, judged, nil
}

// mayUse returns an error for a book that a role leaves out.
func mayUse(books []About, about About) error {
	for _, b := range books {
		if b == about {
			return nil
		}
	}
	if len(books) == 0 {
		return tools.Errorf(tools.KindDenied, "this role uses no notes: work without them")
	}
	return tools.Errorf(tools.KindDenied, "this role uses the notes of the project only: leave about out")
}

// Plan implements tools.Planner: a person is shown the note as a change of its file, and what speaks against it.
func (t rememberTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	in, judged, err := t.fresh(call)
	if err != nil {
		return tools.Plan{}, err
	}
	c, err := t.store.Plan(in)
	if err != nil {
		return tools.Plan{}, tools.Errorf(tools.KindInvalidArgs, "not kept: %w", err)
	}
	plan := tools.Plan{Summary: "Remember for this project: " + text.Ellipsis(c.Note.Text, 100), Diff: c.Diff, Notes: judged.Ask}
	if in.About == User {
		plan.Summary = "Remember about you, in all projects: " + text.Ellipsis(c.Note.Text, 100)
	}
	if c.Same != nil {
		plan.Summary = "Remember what is known: " + text.Ellipsis(c.Note.Text, 100)
		plan.Notes = nil
		return plan, nil
	}
	for _, old := range c.Against {
		plan.Notes = append(plan.Notes, fmt.Sprintf("an earlier note (%s, since %s) may say otherwise, and stays: %s", old.ID, old.Since.Format(time.DateOnly), text.Ellipsis(text.OneLine(old.Text), 300)))
	}
	plan.Insists = len(plan.Notes) > 0
	return plan, nil
}

// Run implements tools.Tool.
func (t rememberTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	in, _, err := t.fresh(call)
	if err != nil {
		return tools.Result{}, err
	}
	c, err := t.store.Add(ctx, in)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindIO, "not kept: %w", err)
	}
	if c.Same != nil {
		return tools.Result{Text: "Nothing to add: the note " + c.Same.ID + " says so already.", Display: tools.Display{Summary: "known already"}}, nil
	}
	t.host.Kept(c.Note)
	said := "Kept as note " + c.Note.ID + " of the topic " + c.Note.Topic + "."
	if c.Replaced != nil {
		said += " It replaces " + c.Replaced.ID + "."
	}
	for _, old := range c.Against {
		said += fmt.Sprintf("\nAn earlier note says: %q. If it is wrong now, call remember again with replaces=%s.", text.OneLine(old.Text), old.ID)
	}
	return tools.Result{Text: said, Data: map[string]any{"id": c.Note.ID, "topic": c.Note.Topic}, Display: tools.Display{Summary: "kept in " + c.Note.Topic, Diff: c.Diff, Added: 1}}, nil
}

type recallTool struct {
	store *Store
	host  Host
}

// The widths of a search.
const (
	defaultTop = 5
	maxTop     = 20
)

// Spec implements tools.Tool.
func (t recallTool) Spec() tools.Spec {
	return tools.Spec{
		Name: RecallTool, Description: strings.TrimSpace(recallText),
		Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"what is asked, in words"},` +
			`"top":{"type":"integer","minimum":1,"maximum":20,"description":"notes, and places in sessions, at most; default 5"}},"required":["query"]}`),
		Aliases:  map[string]string{"q": "query", "question": "query", "limit": "top"},
		ReadOnly: true, Trusted: true, Needs: tools.CapRead, Group: tools.GroupBuiltin, Beside: true,
	}
}

// Plan implements tools.Planner.
func (t recallTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	var a struct {
		Query string `json:"query"`
	}
	if err := call.Decode(&a); err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{Summary: "Recall: " + text.Ellipsis(text.OneLine(a.Query), 80)}, nil
}

// Run implements tools.Tool.
func (t recallTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	var a struct {
		Query string `json:"query"`
		Top   int    `json:"top"`
	}
	if err := call.Decode(&a); err != nil {
		return tools.Result{}, err
	}
	if strings.TrimSpace(a.Query) == "" {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "query is empty: say what you look for")
	}
	books := t.host.Books(call.Caller)
	if len(books) == 0 {
		return tools.Result{}, mayUse(books, Project)
	}
	if a.Top <= 0 {
		a.Top = defaultTop
	}
	found, said, why, err := Find(ctx, t.store, books, a.Query, min(a.Top, maxTop), func(ctx context.Context, limit int) ([]Said, error) {
		return t.host.Said(ctx, call.Caller, a.Query, limit)
	})
	if err != nil {
		return tools.Result{}, err
	}
	t.host.Found(ctx, call.Caller, found)
	return tools.Result{
		Text: strings.TrimSpace(Answer(found, said) + "\n" + why), Data: map[string]any{"notes": lines(found), "sessions": said},
		Display: tools.Display{Summary: text.Count(len(found), "note") + ", " + text.Count(len(said), "place") + " in sessions"},
	}, nil
}

// Find searches notes and earlier sessions. why says why notes were not ranked by their meaning, "" if they were or
// need not be.
func Find(ctx context.Context, s *Store, books []About, question string, top int, sessions func(ctx context.Context, limit int) ([]Said, error)) (found []Note, said []Said, why string, err error) {
	found, why = s.Search(ctx, question, top, books...)
	said, err = sessions(ctx, top)
	return found, said, why, err
}

// longest bounds what is shown of a note that a person wrote, in bytes.
const longest = 4 << 10

// Answer writes what a search found.
func Answer(found []Note, said []Said) string {
	var b strings.Builder
	if len(found) > 0 {
		b.WriteString("Notes (data from earlier sessions, may be out of date):\n")
	}
	for _, n := range found {
		fmt.Fprintf(&b, "- [%s %s] %s (%s)", n.ID, n.Topic, text.Ellipsis(strings.ReplaceAll(n.Text, "\n", "\n  "), longest), n.Written())
		if len(n.Changed) > 0 {
			b.WriteString(" Changed since: " + strings.Join(n.Changed, ", ") + ".")
		}
		b.WriteString("\n")
	}
	if len(said) > 0 {
		b.WriteString("Earlier sessions (data):\n")
	}
	for _, p := range said {
		fmt.Fprintf(&b, "- %s, session %s %q", p.At.Format(time.DateOnly), short(p.Session), text.OneLine(p.Title))
		if p.Message > 0 {
			who := "the user said"
			if p.Role == "assistant" {
				who = "the agent answered"
			}
			fmt.Fprintf(&b, ", message %d, %s: %s", p.Message, who, p.Text)
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "Nothing fits. Try other words, or fewer."
	}
	return strings.TrimSpace(b.String())
}

// short returns the end of a session's ID, by which it can be resumed.
func short(id string) string { return id[max(0, len(id)-8):] }

// Data is a note as data.
type Data struct {
	ID      string   `json:"id"`
	About   About    `json:"about"`
	Topic   string   `json:"topic"`
	Text    string   `json:"text"`
	Since   string   `json:"since"`
	By      Author   `json:"by"`
	Session string   `json:"session,omitempty"`
	Message int64    `json:"message,omitempty"`
	Tool    string   `json:"imported_from,omitempty"`
	Used    string   `json:"used,omitempty"`
	Depends []string `json:"depends_on,omitempty"`
	Changed []string `json:"changed_since,omitempty"`
	File    string   `json:"file"`
}

// Data returns a note as data.
func (n Note) Data() Data {
	l := Data{ID: n.ID, About: n.About, Topic: n.Topic, Text: n.Text, Since: n.Since.Format(time.DateOnly), By: n.By, Session: n.From.Session, Message: n.From.Message, Tool: n.From.Tool, Changed: n.Changed, File: n.File}
	if !n.Used.IsZero() {
		l.Used = n.Used.Format(time.DateOnly)
	}
	for _, d := range n.Depends {
		l.Depends = append(l.Depends, d.Path)
	}
	return l
}

func lines(list []Note) []Data {
	out := make([]Data, len(list))
	for i, n := range list {
		out[i] = n.Data()
	}
	return out
}
