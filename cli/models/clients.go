package modelscli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/agent"
	"jcode/agent/model"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/agent/model/replay"
)

// Clients finds and keeps the clients of the models that a run names.
type Clients struct {
	options Options

	mu       sync.Mutex
	recorder *replay.Recorder
	play     Script
	clients  map[string]agent.Model
	// given maps names of models to the names by which they were requested: a person's own endpoint accepts the
	// latter and not the former.
	given map[string]string
}

// Options are what a run knows of models before it names one.
type Options struct {
	Settings provider.Settings // all but Model
	Own      map[string]catalogue.Info
	Fallback string // used when a model fails for good
	Small    string // used for titles and the like; "" is the cheapest of the same provider
	// Wire returns the name under which a tool was offered to the model.
	Wire func(canonical string) (string, bool)
}

// Script is a script that is played in place of a file for the model name ScriptName.
type Script struct {
	Text []byte
	Pace time.Duration
	Hold func(context.Context, *model.Request) // called before the script answers
}

// New returns the clients of a run; none is opened before its model is named.
func New(o Options) *Clients { return &Clients{options: o} }

// Settings returns the settings by which models are found.
func (m *Clients) Settings() provider.Settings {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.options.Settings
}

// Record writes what models answer to a recorder from now on.
func (m *Clients) Record(r *replay.Recorder) { m.recorder = r }

// Play plays a script for the model name ScriptName.
func (m *Clients) Play(s Script) { m.play = s }

// Plays reports whether a script is played.
func (m *Clients) Plays() bool { return m.play.Text != nil }

// ScriptName is the name of the embedded script.
const ScriptName = "tour"

// Resolve returns the model with a name as the person writes it; "" means the model that settings and
// environment resolve to.
func (m *Clients) Resolve(name string) (agent.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.clients[name]; ok {
		return found, nil
	}
	if given, ok := m.given[name]; ok {
		name = given
	}
	found, err := m.make(name)
	if err != nil {
		return agent.Model{}, err
	}
	if m.options.Fallback != "" && name != m.options.Fallback && !found.Untitled {
		second, err := m.make(m.options.Fallback)
		if err != nil {
			return agent.Model{}, fmt.Errorf("fallback_model: %w", err)
		}
		found.Client = model.NewFallback(found.Client, second.Client, second.ID)
		found.Cost = costOfEither(found, second)
	}
	if m.options.Small != "" && m.options.Small != noSmall && !found.Untitled {
		if found.Small, err = m.smaller(m.options.Small); err != nil {
			return agent.Model{}, fmt.Errorf("small_model: %w", err)
		}
	}
	if m.recorder != nil {
		found.Client = m.recorder.Wrap(found.Client)
	}
	if m.clients == nil {
		m.clients = map[string]agent.Model{}
	}
	m.clients[name], m.clients[found.Name] = found, found
	if name != "" && name != found.Name {
		if m.given == nil {
			m.given = map[string]string{}
		}
		m.given[found.Name] = name
	}
	return found, nil
}

// endpoint returns the endpoint without a name that --base-url or OPENAI_BASE_URL sets.
func (m *Clients) endpoint() (provider.Config, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.options.Settings.BaseURL == "" {
		return provider.Config{}, false
	}
	target, err := provider.Resolve(m.options.Settings)
	if err != nil || target.Provider.Name != "" {
		return provider.Config{}, false
	}
	return target.Provider, true
}

// enter takes a key that the person has just entered: in this run it takes precedence over the environment's.
// It reports whether the environment has a different one.
func (m *Clients) enter(p provider.Config, key string) (hidden bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(m.options.Settings.Entered)
	if all == nil {
		all = map[string]string{}
	}
	all[p.Name] = key
	m.options.Settings.Entered, m.clients = all, nil
	found := strings.TrimSpace(m.options.Settings.Env(p.KeyEnv))
	return p.KeyEnv != "" && found != "" && found != strings.TrimSpace(key)
}

// rekey replaces the keys; clients that were created with the old ones are created again.
func (m *Clients) rekey(keys map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.options.Settings.Keys, m.clients = keys, nil
}

// prefer takes a provider for names of models without one.
func (m *Clients) prefer(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.options.Settings.Provider = name
}

// addProvider adds a provider of the person's own.
func (m *Clients) addProvider(p provider.Config) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(m.options.Settings.Providers)
	if all == nil {
		all = map[string]provider.Config{}
	}
	all[p.Name] = p
	m.options.Settings.Providers, m.clients = all, nil
}

func (m *Clients) make(name string) (agent.Model, error) {
	play := replay.Options{Wire: m.options.Wire, Pace: m.play.Pace}
	if name == ScriptName && m.play.Text != nil {
		client, err := replay.New(bytes.NewReader(m.play.Text), ScriptName, play)
		return agent.Model{Name: ScriptName, ID: ScriptName, Client: heldModel{client, m.play.Hold}, Untitled: true}, err
	}
	settings := m.options.Settings
	settings.Model = name
	target, err := provider.Resolve(settings)
	if err != nil {
		return agent.Model{}, err
	}
	if target.Replay != "" {
		client, err := replay.Open(target.Replay, play)
		return agent.Model{Name: name, ID: name, Client: client, Untitled: true}, err
	}
	client, err := dial.Open(target.Provider)
	if err != nil {
		return agent.Model{}, err
	}
	own := m.options.Own
	if target.Provider.Models != nil {
		own = target.Provider.Models
	}
	found := agent.Model{Name: target.Model, ID: target.Model, Client: client, Searches: target.Provider.Search}
	if target.Provider.Name != "" {
		found.Name = target.Provider.Name + "/" + target.Model
	}
	found.Keeps = func(o model.Opaque) bool {
		return catalogue.GoesBack(o, string(cmp.Or(target.Provider.Protocol, provider.Chat)), target.Provider.Name, cmp.Or(target.Model, o.Model)) &&
			!dial.Lost(client, target.Model, o)
	}
	if target.Model == "" {
		picking := &picking{Client: client, provider: target.Provider, permits: m.permits}
		found.Client, found.FindWindow, found.Sees = picking, picking.window, true
		found.Cost = func(answered string, u model.Usage) (float64, bool) { return costOf(answered, own, u) }
		return found, nil
	}
	found.Sees = true // for an unknown model: the client handles a refusal of an image
	found.FindWindow = func(ctx context.Context) int { return windowOf(ctx, client, target.Model) }
	if info, ok := catalogue.Lookup(target.Model, own); ok {
		found.Window, found.Sees = info.Window, info.Images
		if info.Patches {
			found.Trained = []string{"apply_patch"}
		}
	}
	found.Cost = func(_ string, u model.Usage) (float64, bool) { return costOf(target.Model, own, u) }
	if id := target.Provider.Small(target.Model); id != "" && m.options.Small == "" && m.permits(target.Provider, id) {
		found.Small = smallAt(found.Client, target.Provider, id)
	}
	return found, nil
}

// permits reports whether a model of an endpoint may be used.
func (m *Clients) permits(p provider.Config, id string) bool {
	return m.options.Settings.Permit == nil || m.options.Settings.Permit(p, id) == nil
}

// costOf returns the cost of a usage; false if the model's price is unknown.
func costOf(id string, own map[string]catalogue.Info, u model.Usage) (float64, bool) {
	info, ok := catalogue.Lookup(id, own)
	if !ok {
		return 0, false
	}
	return info.Cost(u)
}

// costOfEither returns the cost by the price of the one of two models that answered.
func costOfEither(first, second agent.Model) func(string, model.Usage) (float64, bool) {
	return func(answered string, u model.Usage) (float64, bool) {
		m := first
		if answered == second.ID {
			m = second
		}
		if m.Cost == nil {
			return 0, false
		}
		return m.Cost(answered, u)
	}
}

// windowOf returns the window that an endpoint states for one of its models, 0 if it states none.
func windowOf(ctx context.Context, client dial.Client, id string) int {
	list, err := client.ListModels(ctx)
	if err != nil {
		return 0
	}
	for _, l := range list {
		if strings.TrimPrefix(l.ID, "models/") == id {
			return l.Window
		}
	}
	return 0
}

// picking is a client for an endpoint without a named model: at its first request it takes the first coding
// model that the endpoint lists.
type picking struct {
	dial.Client
	provider provider.Config
	permits  func(p provider.Config, id string) bool
	said     atomic.Bool // the person was told which model was picked

	mu     sync.Mutex
	id     string
	listed int // the window that the endpoint states
}

// Stream picks the model at the first request, and sends the request to it.
func (p *picking) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	id, err := p.pick(ctx)
	if err != nil {
		return model.Response{}, err
	}
	if !p.said.Swap(true) {
		emit(model.NoticeEvent{Text: fmt.Sprintf("using %s, the first coding model that %s lists: name another with -m or /model", id, cmp.Or(p.provider.Name, p.provider.Address()))})
	}
	req.Model = id
	resp, err := p.Client.Stream(ctx, req, emit)
	resp.Model = id // as listed: its price is found by that
	return resp, err
}

func (p *picking) pick(ctx context.Context) (id string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id != "" {
		return p.id, nil
	}
	if p.provider.Unlisted {
		return "", fmt.Errorf("no model was named, and %s does not list those that you have: name one with -m %s/NAME", p.provider.Name, p.provider.Name)
	}
	list, err := p.ListModels(ctx)
	if err != nil {
		return "", fmt.Errorf("no model was named, and the list of models could not be read: %w", err)
	}
	list = slices.DeleteFunc(list, func(l provider.Listed) bool { return !p.permits(p.provider, strings.TrimPrefix(l.ID, "models/")) })
	first, ok := provider.FirstModel(p.provider, list)
	if !ok {
		return "", errors.New("no model was named, and the endpoint lists none that can chat: name one with -m")
	}
	p.id, p.listed = first.ID, first.Window
	return p.id, nil
}

// window returns the window of the model that is picked.
func (p *picking) window(ctx context.Context) int {
	id, err := p.pick(ctx)
	if err != nil {
		return 0 // the request reports the failure
	}
	if info, ok := catalogue.Lookup(id, p.provider.Models); ok && info.Window > 0 {
		return info.Window
	}
	return p.listed
}

// heldModel is a model that waits before it answers.
type heldModel struct {
	model.Client
	hold func(context.Context, *model.Request)
}

// Stream implements model.Client.
func (h heldModel) Stream(ctx context.Context, req model.Request, emit func(model.Event)) (model.Response, error) {
	if req.Purpose == model.PurposeTurn {
		h.hold(ctx, &req)
	}
	return h.Client.Stream(ctx, req, emit)
}
