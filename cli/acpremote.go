package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/cli/acp"
	servecli "jcode/cli/serve"
	"jcode/page"
	"jcode/tools/command"
)

// remoteEditors serves editors that come over the network with a device's token. They begin and continue sessions of this
// process, within what its owner allows: no more than the mode that the settings say, no trust, no commands of the chat,
// no servers and files of their own, and only in folders in which jcode was used.
type remoteEditors struct {
	flags   *flags
	std     Streams
	folders func(ctx context.Context) ([]string, error)
	lasting bool // answers may outlast the session
}

func newRemoteEditors(a *app) remoteEditors {
	std := a.std
	std.In, std.Out, std.InIsTerminal, std.OutIsTerminal = strings.NewReader(""), io.Discard, false, false
	return remoteEditors{a.flags, std, servecli.Kept{Store: a.store}.Folders, a.config.RemoteAnswers == "all"}
}

// serve speaks with an editor until it leaves.
func (e remoteEditors) serve(ctx context.Context, _ page.Device, in io.Reader, out io.Writer) error {
	return acp.Serve(ctx, in, out, remoteHost{acpHost{flags: e.flags, std: e.std}, e})
}

// remoteHost is an acp.Host within the limits of remoteEditors.
type remoteHost struct {
	acpHost
	editors remoteEditors
}

// Open implements acp.Host.
func (h remoteHost) Open(ctx context.Context, o acp.Opening) (*acp.Workspace, error) {
	used, err := h.editors.folders(ctx)
	if err != nil {
		return nil, err
	}
	for _, dir := range append([]string{o.Cwd}, o.Dirs...) {
		if !slices.Contains(used, dir) {
			return nil, fmt.Errorf("jcode was not used in %s yet: start it there once in a terminal", dir)
		}
	}
	if len(o.Servers) > 0 {
		return nil, errors.New("MCP servers of a client are not taken over the network: configure them where jcode runs")
	}
	o.Files = nil // the files are those of this machine
	w, err := h.acpHost.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	w.Most, w.Brief = w.Conversation.State().Mode, !h.editors.lasting
	w.Trust = func(context.Context) *acp.Trust { return nil }
	w.Commands = func() []command.Command { return nil }
	w.Prompt = func(_ context.Context, text string) (event.Prompt, string, error) {
		return event.Prompt{Text: text}, "", nil
	}
	return w, nil
}

// Fork implements acp.Host.
func (h remoteHost) Fork(ctx context.Context, id, cwd string) (string, bool, error) {
	used, err := h.editors.folders(ctx)
	if err == nil && !slices.Contains(used, cwd) {
		err = fmt.Errorf("jcode was not used in %s yet: start it there once in a terminal", cwd)
	}
	if err != nil {
		return "", false, err
	}
	return h.acpHost.Fork(ctx, id, cwd)
}

// Delete implements acp.Host.
func (remoteHost) Delete(context.Context, string) error {
	return errors.New("sessions are deleted where jcode runs")
}
