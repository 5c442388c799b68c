package cli

import (
	"context"
	"fmt"

	"jcode/cli/board"
	"jcode/cli/console"
	documentscli "jcode/cli/documents"
	sessionscli "jcode/cli/sessions"
	"jcode/tools"
	"jcode/tools/retrieval"
)

// openDocuments creates the retrieval of documents. Nothing is read yet.
func (a *app) openDocuments() {
	a.documents = documentscli.New(documentscli.Options{
		Retrieval: retrieval.Options{
			Index: a.store.Documents(), Root: a.root, Home: a.paths.Home, Watch: !a.flags.Print,
			Inside: a.workspace.Contains,
			Denied: func(path string) string { return a.gate.Denied(tools.AccessRead, path) },
		},
		Project: a.project, Board: &a.board, Registry: a.registry, Judge: a.dispatcher.JudgeCall, Agent: "jcode/" + Version(), Models: a.models.Settings,
		Model: func() string { return a.config.Docs.EmbeddingModel }, Getenv: a.std.Getenv,
	})
	a.onClose(a.documents.Room().Close)
	a.commands.Sources = append(a.commands.Sources, a.documents.Room())
}

// newDocsSetup returns what the commands of `jcode docs` are given.
func newDocsSetup(f *flags, std Streams) documentscli.Setup {
	return documentscli.Setup{Streams: std.Streams, Role: f.Role, Open: func(ctx context.Context, session string) (*retrieval.Room, func(), error) {
		a, err := newApp(ctx, f, std)
		if err != nil {
			return nil, nil, err
		}
		a.board.Aside(func(n board.Notice) { fmt.Fprintln(std.Err, "jcode: "+n.Text) })
		if err := useDocuments(ctx, a, session); err != nil {
			a.close()
			return nil, nil, err
		}
		return a.documents.Room(), a.close, nil
	}}
}

// useDocuments brings the documents of the command line's role into force, or those of a session.
func useDocuments(ctx context.Context, a *app, session string) error {
	if name := a.flags.Role; name != "" {
		r, err := newRoleFiles(a).Layers().Get(ctx, name)
		if err == nil {
			err = r.Usable()
		}
		if err != nil {
			return console.Usage("%w", err)
		}
		if len(r.Documents) == 0 {
			return console.Usage("role %s has no documents: name them in its file, as documents: [docs/**/*.md]", name)
		}
		a.documents.Room().UseRole(a.documents.OfRole(r))
		return nil
	}
	found, err := sessionscli.Named(ctx, a.store, a.project, session)
	if err != nil {
		return err
	}
	return a.documents.Room().UseSession(ctx, found.ID)
}
