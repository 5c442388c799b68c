package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/cli/console"
	"jcode/cli/feed"
	printcli "jcode/cli/print"
	"jcode/session"
)

// maxPiped bounds what is read from a pipe into a prompt.
const maxPiped = 10 << 20

// Run chats, or answers with -p.
func (c *chatCmd) Run(ctx context.Context, f *flags, std Streams) error {
	if err := f.checkInput(c.Prompt); err != nil {
		return err
	}
	if f.fed() {
		return runFed(ctx, f, std)
	}
	if f.Print {
		return runHeadless(ctx, f, std, c.Prompt)
	}
	return runChat(ctx, f, std, c.Prompt)
}

// runHeadless answers one prompt.
func runHeadless(ctx context.Context, f *flags, std Streams, words []string) error {
	if strings.TrimSpace(strings.Join(words, "")) == "" && std.InIsTerminal { // nothing is opened for an empty prompt
		return errEmptyPrompt()
	}
	want, err := printcli.Want(f.OutputSchema, f.Output)
	if err != nil {
		return err
	}
	var text string
	return inSession(ctx, f, std, opening{words: words, before: func() (err error) { text, err = promptText(ctx, words, std); return err }},
		func(a *app, conv *agent.Conversation, sub *event.Subscription) error {
			prompt, notice, err := newTypedPrompts(a).prompt(ctx, text)
			if err != nil {
				return console.Usage("%w", err)
			}
			pr, out := want.Printer(f.OutputFormat, std.Streams)
			if prompt.Text == "" { // a command that did all there was to do
				if p, ok := pr.(*printcli.TextPrinter); ok {
					p.Write(notice)
					p.Close(notice)
				}
				pr.End(printcli.Result{Type: "result", OK: true, Text: notice, SessionID: conv.ID()})
				return out.Flush()
			}
			if notice != "" {
				a.board.Say(event.LevelInfo, "%s", notice)
			}
			return printcli.Run(ctx, conv, sub, want.Prompt(prompt), want, pr, out, a.initLine(ctx, conv))
		})
}

// fed reports whether a program feeds a run of -p: prompts and answers come while it goes on, so there is somebody to
// ask.
func (f *flags) fed() bool { return f.Print && f.InputFormat == "stream-json" }

// once reports whether this is a run of one prompt, with nobody to ask.
func (f *flags) once() bool { return f.Print && !f.fed() }

// checkInput refuses a combination that --input-format does not go with.
func (f *flags) checkInput(words []string) error {
	switch {
	case f.InputFormat != "stream-json":
		return nil
	case !f.Print:
		return console.Usage("--input-format is for -p")
	case f.OutputFormat != "stream-json":
		return console.Usage("--input-format stream-json needs --output-format stream-json: what happens comes as lines too")
	case strings.TrimSpace(strings.Join(words, "")) != "":
		return console.Usage("--input-format stream-json takes prompts from standard input alone: write a line such as %s", `{"type": "prompt", "text": "hello"}`)
	}
	return nil
}

// runFed does what the lines of standard input say until it ends, and what they began has.
func runFed(ctx context.Context, f *flags, std Streams) error {
	if _, err := printcli.Want(f.OutputSchema, f.Output); err != nil {
		return err
	}
	id, err := session.NewID()
	if err != nil {
		return err
	}
	return inSession(ctx, f, std, opening{id: id}, func(a *app, conv *agent.Conversation, sub *event.Subscription) error {
		return feed.Run(ctx, feed.Options{
			Streams: std.Streams, Conversation: conv, Events: sub, Session: id, Format: f.OutputFormat, Init: a.initLine(ctx, conv), Prompt: newTypedPrompts(a).prompt,
			Want: func() (*printcli.Wanted, error) { return printcli.Want(f.OutputSchema, f.Output) }, Actions: newWindowActions(a).Of(conv), Servers: a.mcp,
		})
	})
}

// opening is how the session of a run without a screen begins.
type opening struct {
	words []string // of the command line
	// before is done when the settings are read, and nothing has begun; nil for nothing.
	before func() error
	id     string // of a new session, "" for one that has its ID with the first prompt
}

// inSession does run in the session of a run without a screen.
func inSession(ctx context.Context, f *flags, std Streams, o opening, run func(*app, *agent.Conversation, *event.Subscription) error) error {
	home, err := newAppOfSession(ctx, f, std)
	if err != nil {
		return err
	}
	defer home.close()
	if o.before != nil {
		if err := o.before(); err != nil {
			return err
		}
	}
	a, done, err := enterPlace(ctx, home, o.words)
	if err != nil {
		return err
	}
	defer done()
	conv, err := conversationAs(ctx, a, o.id)
	if err != nil {
		return a.startError(err)
	}
	defer conv.Close()
	if conv.State().ReadOnly {
		return console.Usage("this session is open in another jcode: --fork continues in a copy of it")
	}
	sub := conv.Subscribe()
	defer sub.Close()
	a.board.Attach(conv)
	a.startExtensions()
	newUntrusted(a).SayOff(ctx)
	return run(a, conv, sub)
}

// sayFailure prints the result object of a run that failed without one, if the output is JSON: it is printed
// on every failure, even for a misspelt flag.
func sayFailure(err error, format string, std Streams) {
	var exit *console.Exit
	if err == nil || (errors.As(err, &exit) && exit.Silent) {
		return
	}
	switch format {
	case "json", "stream-json":
		_, out := printcli.New(format, std.Streams)
		printcli.WriteJSON(out, printcli.Result{Type: "result", Error: err.Error()})
	}
}

// startError adds advice to the error of a conversation that could not begin.
func (a *app) startError(err error) error {
	switch {
	case errors.Is(err, provider.ErrNoProvider):
		return console.Usage("%w. `jcode demo -p` needs no model", err)
	case errors.Is(err, context.Canceled):
		return console.Interrupted()
	}
	return console.Usage("%w", err)
}

// initLine describes a run before it begins.
func (a *app) initLine(ctx context.Context, conv *agent.Conversation) printcli.Init {
	st := conv.State()
	line := printcli.Init{Model: st.Model, Cwd: a.cwd, Role: st.Role, Mode: st.Mode, Tools: []string{}, MCPServers: []printcli.Server{}}
	if names, err := agent.Offered(ctx, conv); err == nil { // else the run is at its end
		line.Tools = append(line.Tools, names...)
	}
	for _, s := range a.servers.States() {
		line.MCPServers = append(line.MCPServers, printcli.Server{Name: s.Name, State: s.State})
	}
	return line
}

// promptText joins the words of the command line, followed by what is piped in.
func promptText(ctx context.Context, words []string, std Streams) (string, error) {
	text := strings.TrimSpace(strings.Join(words, " "))
	if !std.InIsTerminal && std.In != nil {
		piped, err := readPiped(ctx, std)
		if err != nil {
			return "", err
		}
		if !utf8.Valid(piped) {
			piped = []byte(strings.ToValidUTF8(string(piped), "\uFFFD"))
			fmt.Fprintln(std.Err, "jcode: standard input is not valid UTF-8: odd bytes became U+FFFD")
		}
		if in := strings.TrimSpace(string(piped)); in != "" {
			text = strings.TrimSpace(text + "\n\n" + in)
		}
	}
	if text == "" {
		return "", errEmptyPrompt()
	}
	return text, nil
}

// pipedPatience is how long to wait for the end of standard input before saying so.
const pipedPatience = 3 * time.Second

// readPiped reads standard input to its end, or until ctx ends. A read of a pipe cannot be
// cancelled, so its goroutine may remain until the process ends.
func readPiped(ctx context.Context, std Streams) ([]byte, error) {
	var piped []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		piped, err = io.ReadAll(io.LimitReader(std.In, maxPiped+1))
	}()
	hint := time.NewTimer(pipedPatience)
	defer hint.Stop()
	for {
		select {
		case <-hint.C:
			fmt.Fprintln(std.Err, "jcode: waiting for the end of standard input: it becomes part of the prompt (</dev/null where there is none)")
		case <-ctx.Done():
			return nil, console.Interrupted()
		case <-done:
			if err != nil {
				return nil, console.Usage("read standard input: %w", err)
			}
			if len(piped) > maxPiped {
				return nil, console.Usage("standard input is larger than %d MB: put it into a file and name that", maxPiped>>20)
			}
			return piped, nil
		}
	}
}

func errEmptyPrompt() error {
	return console.Usage("empty prompt: say what to do, as in jcode -p 'explain main.go'")
}
