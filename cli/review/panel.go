package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"jcode/agent/event"
	"jcode/cli/board"

	"jcode/internal/paths"
	"jcode/internal/proc"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools/command"
)

// maxOutput bounds what is kept of a program's output.
const maxOutput = 4 << 20

// reviewLimit is how long a review in a chat may take.
const reviewLimit = 30 * time.Minute

// Chat is /review: a review of a change by a jcode of its own, and the list of what it found.
type Chat struct {
	board  *board.Board
	dir    string
	passed func(model string) []string // the flags for another run of jcode

	ctx    context.Context // ends with the chat
	runs   sync.WaitGroup
	mu     sync.Mutex
	what   string             // is reviewed, or was; "" for nothing yet
	began  time.Time          // zero where none runs
	stop   context.CancelFunc // of the one that runs
	top    string             // of the repository
	report Report
	failed string
}

// NewChat returns /review for a folder. passed returns the flags for another run of jcode with a model. The caller ends it
// with the chat.
func NewChat(b *board.Board, dir string, passed func(model string) []string) (r *Chat, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r = &Chat{board: b, dir: dir, passed: passed, ctx: ctx}
	return r, func() { cancel(); r.runs.Wait() }
}

// Panel lists the findings. Opened for the first time it reviews what is not committed.
func (r *Chat) Panel() command.Panel {
	return command.Panel{
		Name: "review", Help: "review a change: a list of findings, each can be fixed", Title: "Review",
		Empty: "Nothing was reviewed.", Live: true, Rows: r.rows,
		Verbs: command.Verbs{
			{Name: "show", Hint: "N", Help: "show the place of a finding", Ask: "name a finding by its number", Shows: true, Run: func(_ context.Context, id string) (string, error) { return r.show(id) }},
			{Name: "fix", Hint: "N", Help: "have the agent fix a finding", Ask: "name a finding by its number", Run: func(_ context.Context, id string) (string, error) { return r.fix(id) }},
			{Name: "stop", Help: "stop the review that runs", Run: func(context.Context, string) (string, error) { return r.end() }},
		},
		Other: command.Verb{
			Hint: "--uncommitted|--staged|--base BRANCH|--commit COMMIT|--range A..B", Help: "review this change", Run: r.review,
			Complete: func(_ context.Context, args string) []string {
				return slicex.WithPrefix([]string{"--uncommitted", "--staged", "--base ", "--commit ", "--range "}, args)
			},
		},
		Actions: []command.Action{
			{Label: "show the place", Command: func(row command.Row) string { return "/review show " + row.ID }},
			{Key: "ctrl+e", Label: "fix", Close: true, Run: func(_ context.Context, row command.Row) (string, error) { return r.fix(row.ID) }},
		},
	}
}

// review begins a review.
func (r *Chat) review(_ context.Context, words string) (string, error) {
	if err := check(strings.Fields(words)); err != nil {
		return "", err
	}
	if err := r.begin(strings.Fields(words)); err != nil {
		return "", err
	}
	return "Reviewing " + words + " …: /review shows what is found.", nil
}

// check refuses words that say nothing of a change.
func check(words []string) error {
	for i := 0; i < len(words); i++ {
		name, _, has := strings.Cut(words[i], "=")
		switch name {
		case "--base", "--commit", "--range":
			if !has {
				i++
			}
			if i >= len(words) {
				return fmt.Errorf("%s needs a commit or branch", name)
			}
		case "--staged", "--uncommitted":
		default:
			return fmt.Errorf("/review %s: write --uncommitted, --staged, --base BRANCH, --commit COMMIT, --range A..B, show N, fix N or stop", words[i])
		}
	}
	return nil
}

// begin starts a review, unless one runs.
func (r *Chat) begin(words []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	model := ""
	if conv := r.board.Open(); conv != nil {
		model = conv.OwnModel()
	}
	argv := append(append([]string{self, "review", "--json"}, words...), r.passed(model)...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.began.IsZero() {
		return errors.New("a review runs already: /review stop ends it")
	}
	ctx, stop := context.WithTimeout(r.ctx, reviewLimit)
	r.what, r.began, r.stop, r.failed, r.report = strings.Join(words, " "), time.Now(), stop, "", Report{}
	r.runs.Go(func() {
		defer stop()
		_, top, err := gitOf(ctx, r.dir)
		var report Report
		if err == nil {
			report, err = r.run(ctx, argv)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.began, r.top, r.report = time.Time{}, top, report
		switch {
		case ctx.Err() != nil:
			r.failed = "it was stopped"
		case err != nil:
			r.failed = text.Clean(err.Error())
			r.board.Say(event.LevelWarn, "the review failed: %s", r.failed)
		default:
			r.board.Say(event.LevelInfo, "the review is done: %s: /review shows them", text.Count(len(report.Findings), "finding"))
		}
	})
	return nil
}

// run reviews in a process of its own, as jcode review does.
func (r *Chat) run(ctx context.Context, argv []string) (report Report, err error) {
	starter := proc.NewLauncher()
	defer starter.Close()
	var out, errs strings.Builder
	code, err := captured(ctx, starter, proc.Spec{Argv: argv, Dir: r.dir, Env: os.Environ()}, &out, &errs)
	if err != nil {
		return report, err
	}
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil || code != 0 {
		said := strings.TrimSpace(errs.String())
		if said == "" {
			said = fmt.Sprintf("jcode review ended with %d", code)
		}
		return report, errors.New(strings.TrimPrefix(text.LastLines(said, 1), "jcode: "))
	}
	return report, nil
}

// end stops the review that runs.
func (r *Chat) end() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.began.IsZero() {
		return "", errors.New("no review runs")
	}
	r.stop()
	return "The review is stopped.", nil
}

// rows are the findings, or how far the review is.
func (r *Chat) rows(context.Context) ([]command.Row, error) {
	r.mu.Lock()
	fresh := r.what == ""
	r.mu.Unlock()
	if fresh {
		if err := r.begin([]string{"--uncommitted"}); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	one := func(row command.Row) ([]command.Row, error) {
		row.Keys = []string{}
		return []command.Row{row}, nil
	}
	switch {
	case !r.began.IsZero():
		return one(command.Row{Name: "reviewing", Info: r.what, State: time.Since(r.began).Round(time.Second).String(), Current: true, Detail: "esc closes the list, the review goes on; /review stop ends it"})
	case r.failed != "":
		return one(command.Row{Name: "no review", Info: r.what, State: "failed", Bad: true, Detail: r.failed})
	case len(r.report.Findings) == 0:
		return one(command.Row{Name: "no findings", Info: r.what, Detail: r.report.Summary})
	}
	return r.findings(), nil
}

func (r *Chat) findings() (rows []command.Row) {
	for i, f := range r.report.Findings {
		rows = append(rows, command.Row{
			ID: strconv.Itoa(i + 1), Name: fmt.Sprintf("%s %s:%d", f.Severity, text.Visible(f.File), f.Line), Info: text.Headline(f.Title), Bad: f.Severity <= "P1", Detail: f.Body(),
		})
	}
	return rows
}

// finding returns a finding by its number.
func (r *Chat) finding(number string) (Finding, string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(r.report.Findings) {
		return Finding{}, "", fmt.Errorf("there is no finding %q: /review lists them", number)
	}
	return r.report.Findings[n-1], r.top, nil
}

// around is how many lines of the file are shown before and after a finding.
const around = 6

// show returns a finding with its place in the file.
func (r *Chat) show(number string) (string, error) {
	f, top, err := r.finding(number)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:%d: %s\n\n", f.Severity, f.File, f.Line, f.Title)
	content, err := paths.ReadFile(filepath.Join(top, filepath.FromSlash(f.File)), MaxNew)
	if err != nil {
		fmt.Fprintf(&b, "(%v)\n", err)
	}
	lines := strings.Split(string(content), "\n")
	for n := max(f.Line-around, 1); n <= min(max(f.EndLine, f.Line)+around, len(lines)) && err == nil; n++ {
		mark := " "
		if n >= f.Line && n <= max(f.EndLine, f.Line) {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s%5d  %s\n", mark, n, text.Visible(lines[n-1]))
	}
	b.WriteString("\n" + f.Body() + "\n\n/review fix " + number + " lets the model fix it.\n")
	return b.String(), nil
}

// fix has the model of the chat fix a finding.
func (r *Chat) fix(number string) (string, error) {
	f, _, err := r.finding(number)
	if err != nil {
		return "", err
	}
	conv := r.board.Open()
	if conv == nil {
		return "", errors.New("no conversation is open")
	}
	title := fmt.Sprintf("%s %s:%d: %s", f.Severity, f.File, f.Line, f.Title)
	prompt := "A review of the change found a defect. Check whether it is one; if so, fix it and change nothing else. This is the finding, as the reviewer wrote it:\n\n" + title + "\n" + f.Body()
	if conv.Prompt(event.Prompt{Text: prompt, Shown: "Fix " + title}) == "" {
		return "", errors.New("this session is open in another jcode and read-only here")
	}
	return "", nil
}

// captured runs a program until it ends or ctx does, and returns its exit code. What it starts ends with it.
func captured(ctx context.Context, by *proc.Launcher, spec proc.Spec, out, errs *strings.Builder) (int, error) {
	var files [4]*os.File
	for i := 0; i < len(files); i += 2 {
		var err error
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			for _, f := range files[:i] {
				_ = f.Close() // nothing was written
			}
			return -1, err
		}
	}
	spec.Stdout, spec.Stderr = files[1], files[3]
	p, err := by.Start(spec)
	_, _ = files[1].Close(), files[3].Close() // the child has its own
	var reading sync.WaitGroup
	for i, into := range []*strings.Builder{out, errs} {
		from := files[2*i]
		reading.Go(func() {
			_, _ = io.Copy(into, io.LimitReader(from, maxOutput)) // the pipe ends with the tree
			_, _ = io.Copy(io.Discard, from)
			_ = from.Close() // it was read to its end
		})
	}
	if err != nil {
		reading.Wait()
		return -1, err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = p.Stop(stopping, 5*time.Second)
	<-p.Done()
	reading.Wait()
	return p.Exit().Code, err
}
