package editorscli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"jcode/agent/event"
	"jcode/cli/acp"
	"jcode/page"
	"jcode/tools/command"
)

// Remote serves editors that come over the network with a device's token. They begin and continue sessions of this
// process, within what its owner allows: no more than the mode that the settings say, no trust, no commands of the chat,
// no servers and files of their own, and only in folders in which jcode was used.
type Remote struct {
	Jcode   Jcode
	Folders func(ctx context.Context) ([]string, error) // in which jcode was used
	Lasting bool                                        // answers may outlast the session
}

// Serve speaks with an editor until it leaves.
func (r Remote) Serve(ctx context.Context, _ page.Device, in io.Reader, out io.Writer) error {
	return acp.Serve(ctx, in, out, remoteHost{Host{r.Jcode}, r})
}

// remoteHost is an acp.Host within the limits of Remote.
type remoteHost struct {
	Host
	remote Remote
}

// Open implements acp.Host.
func (h remoteHost) Open(ctx context.Context, o acp.Opening) (*acp.Workspace, error) {
	used, err := h.remote.Folders(ctx)
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
	w, err := h.Host.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	w.Most, w.Brief = w.Conversation.State().Mode, !h.remote.Lasting
	w.Trust = func(context.Context) *acp.Trust { return nil }
	w.Commands = func() []command.Command { return nil }
	w.Prompt = func(_ context.Context, text string) (event.Prompt, string, error) {
		return event.Prompt{Text: text}, "", nil
	}
	return w, nil
}

// Fork implements acp.Host.
func (h remoteHost) Fork(ctx context.Context, id, cwd string) (string, bool, error) {
	used, err := h.remote.Folders(ctx)
	if err == nil && !slices.Contains(used, cwd) {
		err = fmt.Errorf("jcode was not used in %s yet: start it there once in a terminal", cwd)
	}
	if err != nil {
		return "", false, err
	}
	return h.Host.Fork(ctx, id, cwd)
}

// Delete implements acp.Host.
func (remoteHost) Delete(context.Context, string) error {
	return errors.New("sessions are deleted where jcode runs")
}
