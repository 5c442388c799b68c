package modelscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/cli/config"
	"jcode/cli/console"
	"jcode/tools/command"
	"jcode/tui/front"
)

// ErrTour says that the person chose the tour instead of a model.
var ErrTour = errors.New("the tour was chosen")

// rowTour is the row that starts the tour.
const rowTour = "tour"

// FirstStart guides through the first start, when no model is known yet.
type FirstStart struct {
	Models      *Clients
	Credentials string // the file of stored keys
	Settings    string // the person's config.json
	Getenv      func(string) string
	Say         func(level event.Level, format string, args ...any)
	// Choose sets the model with which conversations begin; "" means the model that settings and environment
	// resolve to.
	Choose func(model string)
}

// Guide helps a person who has no model yet to set one up: then their first session begins. leave ends the chat with
// a cause.
func (a FirstStart) Guide(begin func(ctx context.Context) (front.Session, error), leave context.CancelCauseFunc) *front.FirstRun {
	known := a.Models.Settings().Known()
	first := &front.FirstRun{
		Found: func(ctx context.Context) ([]command.Row, error) {
			var rows []command.Row
			for _, f := range dial.DetectLocal(ctx, known) {
				row := command.Row{ID: f.Provider.Name, Name: f.Provider.Name, Info: fmt.Sprintf("on this machine, %d models", len(f.Models))}
				if m, ok := provider.FirstModel(f.Provider, f.Models); ok {
					row.ID, row.Info = f.Provider.Name+"/"+m.ID, m.ID+", on this machine"
				}
				rows = append(rows, row)
			}
			return append(rows, command.Row{ID: rowTour, Name: "Take the offline tour", Info: "a scripted model, real tools, a temporary project"}), nil
		},
		Looked:      a.looked(known),
		FindServer:  findServer,
		EnterServer: a.enterServer,
		EnterKey: func(ctx context.Context, name, key string) error {
			return a.enterKey(ctx, known, name, key)
		},
		Choose: func(ctx context.Context, row command.Row) (front.Session, error) {
			if row.ID == rowTour {
				leave(ErrTour)
				return front.Session{}, ErrTour
			}
			name := row.ID
			if name == endpointRow {
				name = ""
			} else if !strings.Contains(name, "/") { // a provider: its first coding model
				a.Models.prefer(name)
				name = ""
			}
			if _, err := a.Models.Resolve(name); err != nil {
				return front.Session{}, err
			}
			a.Choose(name)
			return begin(ctx)
		},
	}
	if p, ok := a.Models.endpoint(); ok {
		first.Providers = append(first.Providers, command.Row{
			ID: endpointRow, Name: p.Address(), Info: p.KeyEnv, Current: true,
			Detail: "It is asked whether it takes the key, which is then used until jcode ends.",
		})
	}
	for _, p := range known {
		if !p.Local && p.Cloud == "" { // a cloud needs more than a key
			first.Providers = append(first.Providers, command.Row{ID: p.Name, Name: p.Name, Info: p.KeyEnv})
		}
	}
	return first
}

// endpointRow is the row of the endpoint that --base-url or OPENAI_BASE_URL names.
const endpointRow = "endpoint"

// enterKey asks a provider whether it accepts a key, stores it, and uses it from now on. The key of an
// endpoint without a name is not stored: it would go to another endpoint later.
func (a FirstStart) enterKey(ctx context.Context, known []provider.Config, name, key string) error {
	cfg, ok := a.Models.endpoint()
	if name != endpointRow {
		i := slices.IndexFunc(known, func(p provider.Config) bool { return p.Name == name })
		if ok = i >= 0; ok {
			cfg = known[i]
		}
	}
	if !ok {
		return fmt.Errorf("no provider %q is known", name)
	}
	if err := tryKey(ctx, cfg, key); err != nil {
		return err
	}
	if cfg.Name == "" {
		a.Models.enter(cfg, key)
		a.Say("warn", "this key is used until jcode ends: put it into %s for the next start", cfg.KeyEnv)
		return nil
	}
	if err := config.StoreKey(a.Credentials, name, key); err != nil {
		return err
	}
	if err := a.readKeys(); err != nil {
		return err
	}
	if a.Models.enter(cfg, key) {
		a.Say("warn", "%s in the environment holds another key: the one you entered is used until jcode ends, and that of the environment at the next start; change or unset it there", cfg.KeyEnv)
	}
	return nil
}

// looked says where models are looked for, and which keys exist.
func (a FirstStart) looked(known []provider.Config) string {
	var have, lack, local []string
	for _, p := range known {
		switch {
		case p.Local:
			local = append(local, p.Name+" ("+strings.TrimSuffix(strings.TrimPrefix(p.Address(), "http://"), "/v1")+")")
		case p.KeyEnv != "" && (a.Getenv(p.KeyEnv) != "" || a.Models.Settings().Keys[p.Name] != ""):
			have = append(have, p.KeyEnv)
		case p.KeyEnv != "":
			lack = append(lack, p.KeyEnv)
		}
	}
	out := "Asked on this machine: " + strings.Join(local, ", ") + "."
	if len(have) > 0 {
		out += "\nKeys: " + strings.Join(have, ", ") + "."
	}
	if len(lack) > 0 {
		out += "\nNot set: " + strings.Join(lack, ", ") + "."
	}
	return out
}

// ownServer is the name of the provider that a person enters by its address.
const ownServer = "server"

// enterServer asks a server for its models and, if it answers, stores its address, its key and the first of
// its models that suits coding.
func (a FirstStart) enterServer(ctx context.Context, address, key string) (command.Row, error) {
	if err := provider.CheckURL(address); err != nil {
		return command.Row{}, err
	}
	cfg := provider.Config{Name: ownServer, BaseURL: address, Key: provider.Secret(key)}
	if permit := a.Models.Settings().Permit; permit != nil {
		if err := permit(cfg, ""); err != nil {
			return command.Row{}, err
		}
	}
	client, err := dial.Open(cfg)
	if err != nil {
		return command.Row{}, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, keyWait)
	defer cancel()
	list, err := client.ListModels(ctx)
	if err != nil {
		return command.Row{}, fmt.Errorf("%s does not list its models, and nothing was stored: %w", cfg.Address(), err)
	}
	m, ok := provider.FirstModel(cfg, list)
	if !ok {
		return command.Row{}, fmt.Errorf("%s answers, but names no model", cfg.Address())
	}
	name := ownServer + "/" + m.ID
	if key != "" {
		if err := config.StoreKey(a.Credentials, ownServer, key); err != nil {
			return command.Row{}, err
		}
	}
	for _, kv := range [][2]string{{"providers." + ownServer + ".base_url", address}, {"model", name}} {
		if err := config.Set(a.Settings, kv[0], kv[1]); err != nil {
			return command.Row{}, err
		}
	}
	if err := a.readKeys(); err != nil {
		return command.Row{}, err
	}
	a.Models.addProvider(provider.Config{Name: ownServer, BaseURL: address})
	return command.Row{ID: name, Name: name, Info: "your own server"}, nil
}

// keyWait is how long a provider may take to check a key.
const keyWait = 8 * time.Second

// tryKey asks a provider whether it accepts a key. Only a refusal is an error: an unreachable provider says
// nothing about its key.
func tryKey(ctx context.Context, cfg provider.Config, key string) error {
	cfg.Key = provider.Secret(key)
	client, err := dial.Open(cfg)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, keyWait)
	defer cancel()
	_, err = client.ListModels(ctx)
	var refused *model.Error
	if errors.As(err, &refused) && refused.Class == model.ClassAuth {
		return fmt.Errorf("%s refuses this key, and it was not stored: %w", cmp.Or(cfg.Name, cfg.Address()), err)
	}
	return nil
}

// readKeys loads the stored keys.
func (a FirstStart) readKeys() error {
	keys, warning, err := config.ReadCredentials(a.Credentials)
	if err != nil {
		return console.Usage("%w", err)
	}
	if warning != "" {
		a.Say("warn", "%s", warning)
	}
	a.Models.rekey(keys)
	return nil
}
