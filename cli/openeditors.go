package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"jcode/cli/acp"
	"jcode/cli/config"
	editorscli "jcode/cli/editors"
	servecli "jcode/cli/serve"
	"jcode/internal/slicex"
	"jcode/tools/command"
)

// newEditorSetup returns what `jcode acp` is given.
func newEditorSetup(f *flags, std Streams) editorscli.Setup {
	quiet := std
	quiet.Out = std.Err // stdout belongs to the protocol
	return editorscli.Setup{Streams: std.Streams, Jcode: jcodeOfEditors(f, quiet), Chosen: f.Print || f.Continue || f.Resume != "" || f.Fork}
}

// newRemoteEditors returns what serves editors over the network.
func newRemoteEditors(a *app) editorscli.Remote {
	std := a.std
	std.In, std.Out, std.InIsTerminal, std.OutIsTerminal = strings.NewReader(""), io.Discard, false, false
	return editorscli.Remote{Jcode: jcodeOfEditors(a.flags, std), Folders: servecli.Kept{Store: a.store}.Folders, Lasting: a.config.RemoteAnswers == "all"}
}

// jcodeOfEditors returns what opens the sessions of editors.
func jcodeOfEditors(f *flags, std Streams) editorscli.Jcode {
	own := func(dirs []string) *flags { // each app changes its own
		copied := *f
		copied.AddDir = append(slices.Clone(f.AddDir), dirs...)
		return &copied
	}
	return editorscli.Jcode{
		Version: Version(),
		Model: func(ctx context.Context) error {
			a, err := newApp(ctx, own(nil), std)
			if err != nil {
				return err
			}
			defer a.close()
			_, err = a.models.Resolve(a.flags.Model)
			return err
		},
		Open: func(ctx context.Context, o acp.Opening) (editorscli.Opened, error) {
			a := &app{flags: own(o.Dirs), std: std, cwd: o.Cwd, inEditor: true}
			if o.Files != nil {
				a.editor = o.Files
			}
			if _, err := a.open(ctx); err != nil {
				return editorscli.Opened{}, err
			}
			return openedOf(a), nil
		},
		Kept: func(ctx context.Context) (editorscli.Kept, error) {
			a, err := openKept(ctx, own(nil), std)
			if err != nil {
				return editorscli.Kept{}, err
			}
			return editorscli.Kept{Store: a.store, Data: a.paths.Data, Forget: outputsOf(a).Forget, Close: a.close}, nil
		},
	}
}

// openedOf returns what an editor's session needs of an app.
func openedOf(a *app) editorscli.Opened {
	panels := func() []command.Panel { return chatPanels(a) }
	a.commands.Sources = append([]command.Source{newPersonCommands(a, newSessions(a)), editorscli.Commands{Open: a.board.Open, Panels: panels}}, a.commands.Sources...)
	return editorscli.Opened{
		Sessions: editorscli.Sessions{Store: a.store, Data: a.paths.Data, Private: a.flags.Private, Options: a.options, Begin: newRoleStarts(a).Begin, Resume: a.resume},
		Board:    &a.board, Dispatcher: a.dispatcher, Start: a.startExtensions, Commands: a.commands.List, Prompt: newTypedPrompts(a).prompt,
		Models: func() []string { return slicex.Map(a.config.Models, func(m config.Model) string { return m.ID }) },
		Listed: newModelList(a).Rows, Roles: newRoleActions(a).Rows, Question: newUntrusted(a).Question, OnClose: a.onClose, Close: a.close,
	}
}
