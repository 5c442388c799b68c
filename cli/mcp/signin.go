package mcpcli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/console"
	"jcode/internal/browser"
	"jcode/mcp/auth"
	mcpconfig "jcode/mcp/config"
	"jcode/tools"
)

// loginCmd signs in to a server.
type loginCmd struct {
	Name            string   `arg:"" optional:"" help:"Server; or give --url URL."`
	URL             string   `name:"url" help:"Instead of a configured server: this address." placeholder:"URL"`
	NoBrowser       bool     `help:"Only print the address."`
	ClientID        string   `name:"client-id" help:"Client that is registered already, with --url." placeholder:"ID"`
	ClientSecretEnv string   `help:"Variable that holds the client's secret, with --url." placeholder:"NAME"`
	CallbackPort    int      `help:"Port of the loopback address that the browser comes back to, with --url." placeholder:"PORT"`
	Scope           []string `help:"OAuth scope to request, with --url; repeatable." placeholder:"SCOPE" sep:"none"`
}

// Run signs in.
func (c *loginCmd) Run(ctx context.Context, std Setup) error {
	settings := c.ClientID != "" || c.ClientSecretEnv != "" || c.CallbackPort != 0 || len(c.Scope) > 0
	switch {
	case (c.Name == "") == (c.URL == ""):
		return console.Usage("mcp login: name a server, or give --url URL")
	case c.Name != "" && settings:
		return console.Usage("mcp login: the sign-in settings of a configured server belong in its entry, under oauth")
	}
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	person := terminalPerson{std: std.Streams, browser: a.Browser, noBrowser: c.NoBrowser}
	if c.URL != "" {
		target := mcpconfig.Target{Type: mcpconfig.HTTP, URL: c.URL}
		if settings {
			target.OAuth = &mcpconfig.OAuth{ClientID: c.ClientID, ClientSecretEnv: c.ClientSecretEnv, CallbackPort: c.CallbackPort, Scopes: c.Scope}
		}
		err = a.Servers.SignIns().InTo(ctx, "url", target, person)
	} else {
		err = a.Servers.SignIns().In(ctx, c.Name, person)
	}
	if err != nil {
		return serverFailure(fmt.Errorf("mcp login: %w", err))
	}
	fmt.Fprintf(std.Out, "signed in; kept in %s\n", a.Servers.SignIns().Where())
	return nil
}

// addPatience is how long a server that was added may take to say whether it needs a sign-in.
const addPatience = 10 * time.Second

// signInAfterAdd starts the sign-in to a server that was added, if the server requires one and a person is
// present; otherwise it says what to run. The server is added either way.
func signInAfterAdd(ctx context.Context, std Setup, name string) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	limited, cancel := context.WithTimeout(ctx, addPatience)
	asks, err := a.Servers.SignIns().Asked(limited, name)
	cancel()
	login := "jcode mcp login " + name
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		fmt.Fprintf(std.Err, "%s: not reached to see whether it asks for a sign-in (%v); where it does: %s\n", name, err, login)
		return nil
	case !asks:
		return nil
	case !std.InIsTerminal || !std.OutIsTerminal:
		fmt.Fprintf(std.Err, "%s: it asks for a sign-in: %s\n", name, login)
		return nil
	}
	if err := a.Servers.SignIns().In(ctx, name, terminalPerson{std: std.Streams, browser: a.Browser}); err != nil {
		if ctx.Err() != nil {
			err = auth.ErrDeclined
		}
		fmt.Fprintf(std.Err, "%s: not signed in (%v); to try again: %s\n", name, err, login)
		return nil
	}
	fmt.Fprintf(std.Out, "signed in; kept in %s\n", a.Servers.SignIns().Where())
	return nil
}

// logoutCmd removes a sign-in.
type logoutCmd struct {
	Name string `arg:"" optional:"" help:"Server; or give --url URL."`
	URL  string `name:"url" help:"Instead of a configured server: this address." placeholder:"URL"`
}

// Run removes the sign-in.
func (c *logoutCmd) Run(ctx context.Context, std Setup) error {
	if (c.Name == "") == (c.URL == "") {
		return console.Usage("mcp logout: name a server, or give --url URL")
	}
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	var had bool
	if c.URL != "" {
		had, err = a.Servers.SignIns().OutOf(ctx, c.URL)
	} else {
		had, err = a.Servers.SignIns().Out(ctx, c.Name)
	}
	if err != nil {
		return serverFailure(fmt.Errorf("mcp logout: %w", err))
	}
	if !had {
		fmt.Fprintf(std.Out, "there was no sign-in in %s\n", a.Servers.SignIns().Where())
		return nil
	}
	fmt.Fprintln(std.Out, "signed out")
	return nil
}

// terminalPerson signs in from a command line.
type terminalPerson struct {
	std       console.Streams
	browser   browser.Browser
	noBrowser bool
}

// Visit prints the address, opens it, and reads what is pasted.
func (p terminalPerson) Visit(ctx context.Context, v auth.Visit) (string, error) {
	fmt.Fprintf(p.std.Err, "%s\n\n%s\n\n", VisitText(v), v.URL)
	if !p.noBrowser {
		if err := p.browser.Open(ctx, v.URL); err != nil {
			fmt.Fprintf(p.std.Err, "open the address yourself (%v)\n", err)
		}
	}
	fmt.Fprintln(p.std.Err, "Waiting for the browser. Where it runs on another machine, paste its last address here.")
	lines := make(chan string, 1)
	go func() { // it ends with the input, or with the program
		line, err := bufio.NewReader(p.std.In).ReadString('\n')
		if err == nil || !errors.Is(err, io.EOF) || strings.TrimSpace(line) != "" {
			lines <- line
		}
	}()
	select {
	case line := <-lines:
		if strings.TrimSpace(line) == "" {
			return "", auth.ErrDeclined
		}
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// VisitText says which server asks for a sign-in, where and with which permissions.
func VisitText(v auth.Visit) string {
	s := fmt.Sprintf("Sign in to %s? MCP server, at %s", v.Server, v.Host)
	if v.StepUp {
		s = fmt.Sprintf("Sign in to %s again? MCP server, needs more rights, at %s", v.Server, v.Host)
	}
	if len(v.Scopes) > 0 {
		s += "\nrights: " + strings.Join(v.Scopes, ", ")
	}
	return s
}

// ChatPerson signs in from the open conversation.
type ChatPerson struct {
	Board  *board.Board
	Browse func(ctx context.Context, url string) error
}

// Visit asks, opens the browser, and takes what is pasted, in dialogs of the conversation.
func (p ChatPerson) Visit(ctx context.Context, v auth.Visit) (string, error) {
	conv, err := p.conversation(ctx)
	if err != nil {
		return "", err
	}
	ask := func(form tools.Form) (map[string]any, error) {
		form.From = "MCP server " + v.Server
		answer, err := conv.Person().AskForm(ctx, form)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil, answer.Action != tools.FormAccept:
			return nil, auth.ErrDeclined
		}
		return answer.Values, nil
	}
	if _, err := ask(tools.Form{Text: VisitText(v), Yes: "open the browser", No: "not now"}); err != nil {
		return "", err
	}
	text := "Waiting for the browser"
	if err := p.Browse(ctx, v.URL); err != nil {
		text = "Open the address yourself (" + err.Error() + ")"
	}
	text += ":\n\n" + v.URL + "\n\nWhere it runs on another machine, paste its last address here. Esc ends the sign-in."
	values, err := ask(tools.Form{Text: text, Fields: []tools.FormField{{Name: "address", Title: "Last address, or code", Kind: tools.FieldText, Required: true}}})
	pasted, _ := values["address"].(string)
	return pasted, err
}

// conversation waits until a conversation is open.
func (p ChatPerson) conversation(ctx context.Context) (*agent.Conversation, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if conv := p.Board.Open(); conv != nil {
			return conv, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
