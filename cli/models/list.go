package modelscli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/agent/model/catalogue"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
	"jcode/cli/config"
	"jcode/session"
	"jcode/tools/command"
)

// List lists models for the screens of a chat.
type List struct {
	Models *Clients
	// Current names the model of the open conversation; "" without one.
	Current func() string
	// Configured returns the models that the settings name, and the favourites among all.
	Configured func() (named []config.Model, favorites []string)
	// Recent returns the last sessions, at most as many as limit.
	Recent func(ctx context.Context, limit int) ([]session.Session, error)
}

// sessionsLooked is how many sessions decide which models a person likes.
const sessionsLooked = 100

// listedModel is a row of the list of models, in columns.
type listedModel struct {
	id, name, provider string
	window, price      string
	sees, thinks       bool
	favorite           int // its place among the favourites, from 1; 0 if it is none
	used               int // sessions
}

// called reports whether a person means this model by an ID, or by provider/ID.
func (m listedModel) called(id string) bool { return m.id == id || m.name == id }

// Rows lists the models of the endpoint in use, and those that the configuration names: first the favourites, in
// their order, then those that the person has used, most often first.
func (a List) Rows(ctx context.Context) ([]command.Row, error) {
	current := a.Current()
	configured, favorites := a.Configured()
	var list []listedModel
	add := func(m listedModel) {
		if !slices.ContainsFunc(list, func(known listedModel) bool { return known.id == m.id }) {
			list = append(list, m)
		}
	}
	settings := a.Models.Settings()
	settings.Model = current
	target, err := provider.Resolve(settings)
	if err == nil && target.Replay == "" {
		var found []provider.Listed
		if found, err = listModels(ctx, target.Provider); err == nil {
			for _, l := range found {
				if a.Models.permits(target.Provider, strings.TrimPrefix(l.ID, "models/")) {
					add(a.listed(target.Provider.Name, l))
				}
			}
		}
	}
	named := func(id string) { // unless the endpoint has listed it, by either of its names
		if !slices.ContainsFunc(list, func(m listedModel) bool { return m.called(id) }) {
			add(a.named(id))
		}
	}
	for _, m := range configured {
		named(m.ID)
	}
	for i, id := range favorites {
		named(id)
		for j := range list {
			if list[j].favorite == 0 && list[j].called(id) {
				list[j].favorite = i + 1
			}
		}
	}
	if list == nil && err != nil {
		return nil, fmt.Errorf("the list of models could not be read (%w); /model NAME takes any", err)
	}
	if recent, err := a.Recent(ctx, sessionsLooked); err == nil { // without them, all are as they were listed
		for _, s := range recent {
			if i := slices.IndexFunc(list, func(m listedModel) bool { return m.id == s.Model }); i >= 0 {
				list[i].used++
			}
		}
	}
	slices.SortStableFunc(list, func(x, y listedModel) int {
		place := func(m listedModel) int { return cmp.Or(m.favorite, len(favorites)+1) }
		return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(y.used, x.used))
	})
	rows := modelColumns(list, current)
	for i, m := range list {
		if m.favorite > 0 || m.used > 0 && len(favorites) == 0 {
			rows[i].State = "★"
		}
	}
	return rows, nil
}

// named says what is known of a model that the configuration names.
func (a List) named(name string) listedModel {
	of, id, whole := strings.Cut(name, "/")
	if !whole {
		of, id = "", name
	}
	m := a.listed(of, provider.Listed{ID: id})
	m.id = name
	return m
}

// listed says what is known of a model of a provider.
func (a List) listed(of string, l provider.Listed) listedModel {
	m := listedModel{id: l.ID, name: l.ID, provider: of}
	if of != "" {
		m.id = of + "/" + l.ID
	}
	info, known := catalogue.Lookup(l.ID, a.Models.options.Own)
	if window := cmp.Or(l.Window, info.Window); window > 0 {
		m.window = fmt.Sprintf("%dk", window/1000)
	}
	if known && info.Output > 0 {
		m.price = fmt.Sprintf("$%g in $%g out", info.Input, info.Output)
	}
	m.sees, m.thinks = info.Images, info.Reasons
	return m
}

// modelColumns writes the rows: provider, window, price per million tokens, whether it sees pictures and has an effort.
func modelColumns(list []listedModel, current string) []command.Row {
	wide := [3]int{}
	for _, m := range list {
		wide[0], wide[1], wide[2] = max(wide[0], len(m.provider)), max(wide[1], len(m.window)), max(wide[2], len(m.price))
	}
	word := func(is bool, s string) string {
		if is {
			return s
		}
		return strings.Repeat(" ", len(s))
	}
	rows := make([]command.Row, len(list))
	for i, m := range list {
		info := fmt.Sprintf("%-*s  %*s  %-*s  %s  %s", wide[0], m.provider, wide[1], m.window, wide[2], m.price, word(m.sees, "pictures"), word(m.thinks, "effort"))
		rows[i] = command.Row{ID: m.id, Name: m.name, Info: strings.TrimRight(info, " "), Current: m.id == current, Search: m.id}
	}
	return rows
}

// listModels asks an endpoint for its models.
func listModels(ctx context.Context, p provider.Config) ([]provider.Listed, error) {
	client, err := dial.Open(p)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.ListModels(ctx)
}
