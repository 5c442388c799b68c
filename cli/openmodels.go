package cli

import (
	"context"
	"fmt"
	"time"

	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/agent/model/replay"
	"jcode/cli/config"
	"jcode/cli/console"
	modelscli "jcode/cli/models"
	"jcode/internal/text"
	"jcode/session"
)

// openModels prepares the lookup of models by name.
func (a *app) openModels(context.Context) error {
	keys, warning, err := config.ReadCredentials(a.paths.Credentials())
	if err != nil {
		a.board.Say(event.LevelWarn, "stored keys are not used: %v", err)
	}
	if warning != "" {
		a.board.Say(event.LevelWarn, "%s", warning)
	}
	own := modelscli.Known(a.config, a.paths.Models(), a.board.Say)
	a.models = modelscli.New(modelscli.Options{
		Settings: provider.Settings{
			BaseURL: a.flags.BaseURL, Provider: a.config.Provider, Providers: modelscli.Providers(a.config, own), Keys: keys, Env: a.std.Getenv, Programs: keyPrograms(a), Permit: a.std.managed.Permit,
			Limits: provider.Limits{Idle: time.Duration(a.config.IdleTimeout), Attempts: a.config.Attempts},
		},
		Own:      own,
		Fallback: a.config.FallbackModel, Small: a.config.SmallModel,
		Wire: func(canonical string) (string, bool) {
			e, ok, _ := a.registry.Snapshot(nil).Lookup(canonical)
			return e.Spec.Wire, ok
		},
	})
	path := a.std.Getenv("JCODE_RECORD")
	if path == "" {
		return nil
	}
	recorder, err := replay.NewRecorder(path, func(wire string) string { return a.registry.Snapshot(nil).Canonical(wire) })
	if err != nil {
		return console.Usage("JCODE_RECORD: %w", err)
	}
	recorder.Skip = a.privateNow
	if a.flags.Private {
		a.board.Say(event.LevelWarn, "JCODE_RECORD: a private conversation is not recorded; %s stays as it is", text.Visible(path))
	}
	a.models.Record(recorder)
	a.onClose(func() {
		if err := recorder.Close(); err != nil {
			fmt.Fprintln(a.std.Err, "jcode: JCODE_RECORD:", err)
		}
	})
	return nil
}

// newModelList returns the list of models of the screens of a chat.
func newModelList(a *app) modelscli.List {
	return modelscli.List{
		Models: a.models, Current: func() string {
			if conv := a.board.Open(); conv != nil {
				return conv.State().Model
			}
			return ""
		},
		Configured: func() ([]config.Model, []string) { return a.config.Models, a.config.Favorites },
		Recent: func(ctx context.Context, limit int) ([]session.Session, error) {
			return a.store.List(ctx, session.Filter{All: true, Limit: limit})
		},
	}
}

// newFirstStart returns what guides through the first start.
func newFirstStart(a *app) modelscli.FirstStart {
	choose := func(name string) { a.flags.Model, a.modelNamed = name, name != "" }
	return modelscli.FirstStart{Models: a.models, Credentials: a.paths.Credentials(), Settings: a.paths.File(), Getenv: a.std.Getenv, Say: a.board.Say, Choose: choose}
}

// newModelSetup returns what the commands of `jcode models` are given.
func newModelSetup(f *flags, std Streams) modelscli.Setup {
	return modelscli.Setup{Streams: std.Streams, Version: Version(), Open: func(ctx context.Context) (modelscli.Opened, error) {
		a, err := openConfigured(ctx, f, std)
		if err != nil {
			return modelscli.Opened{}, err
		}
		return modelscli.Opened{Table: a.paths.Models(), Source: a.config.Update.Models, Known: modelscli.Known(a.config, a.paths.Models(), a.board.Say), Close: a.close}, nil
	}}
}

// openConfigured opens an app whose settings are read.
func openConfigured(ctx context.Context, f *flags, std Streams) (*app, error) {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return nil, err
	}
	if err := a.loadConfig(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}
