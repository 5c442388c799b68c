package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"jcode/agent/event"
	"jcode/agent/model/catalogue"
	"jcode/agent/model/provider"
	"jcode/cli/console"
	"jcode/internal/atomicfile"
	"jcode/internal/text"
)

// maxTable bounds a table of models.
const maxTable = 4 << 20

// modelsCmd is about the table of models and prices.
type modelsCmd struct {
	Show   modelsShowCmd   `cmd:"" default:"withargs" help:"Say where prices come from, and what a model costs."`
	Update modelsUpdateCmd `cmd:"" help:"Read a table of models and prices from an address or a file."`
}

// modelsShowCmd says what is known of models.
type modelsShowCmd struct {
	ID []string `arg:"" optional:"" help:"IDs of models."`
}

// Run prints the sources, or what is known of models.
func (c *modelsShowCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openConfigured(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	fmt.Fprintf(std.Out, "prices of jcode %s: most of %s, from %s, not checked with the makers since; jcode models update reads a newer table\n", Version(), catalogue.PricesDated, catalogue.PricesFrom)
	if t, err := readTable(a.paths.Models()); err == nil {
		fmt.Fprintf(std.Out, "%s, read on %s from %s\n", text.Count(len(t.Models), "model"), t.Date, text.Clean(t.Source))
	}
	own := a.ownModels()
	for _, id := range c.ID {
		info, _ := catalogue.Lookup(id, own)
		price := "price unknown"
		if info.Priced() {
			price = fmt.Sprintf("$%g in, $%g cached, $%g out per million tokens", info.Input, cmp.Or(info.Cached, info.Input), info.Output)
			if l := info.Long; l.Above > 0 {
				price += fmt.Sprintf("; above %d tokens %g times in, %g times out", l.Above, l.Input, l.Output)
			}
		}
		fmt.Fprintf(std.Out, "%s: %s\n", text.Clean(id), price)
	}
	return nil
}

// modelsUpdateCmd reads a table and keeps it. Nothing is fetched unless a person names an address, and asks.
type modelsUpdateCmd struct {
	Source string `arg:"" optional:"" help:"Address or file; otherwise update.models of the settings."`
}

// Run reads, checks and keeps the table.
func (c *modelsUpdateCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openConfigured(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	source := cmp.Or(c.Source, a.config.Update.Models)
	if source == "" {
		return console.Usage("config.json: update.models is not set, and jcode contacts no server on its own: give an address or a file, or set it")
	}
	data, err := tableFrom(ctx, source)
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("%s: %w", source, err)}
	}
	t, err := catalogue.ParseTable(data)
	if err != nil {
		return console.Usage("%s: %w", source, err)
	}
	if err := atomicfile.Write(a.paths.Models(), data, atomicfile.Options{}); err != nil {
		return fmt.Errorf("keep the table: %w", err)
	}
	fmt.Fprintf(std.Out, "%s, read on %s from %s, in force from the next start\n", text.Count(len(t.Models), "model"), t.Date, text.Clean(t.Source))
	return nil
}

// tableFrom reads an address or a file.
func tableFrom(ctx context.Context, source string) ([]byte, error) {
	if !strings.Contains(source, "://") {
		in, err := os.Open(source)
		if err != nil {
			return nil, err
		}
		defer func() { _ = in.Close() }() // it is only read
		return readTableOf(in)
	}
	if err := provider.CheckURL(source); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, updateWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "jcode/"+Version())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return readTableOf(resp.Body)
}

func readTableOf(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxTable+1))
	if err == nil && len(data) > maxTable {
		return nil, fmt.Errorf("a table has at most %d MB", maxTable>>20)
	}
	return data, err
}

// readTable reads the table that is kept.
func readTable(path string) (catalogue.Table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return catalogue.Table{}, err
	}
	return catalogue.ParseTable(data)
}

// ownModels returns what settings know of models, on top of the table that is kept.
func (a *app) ownModels() map[string]catalogue.Info {
	out := ownModels(a.config)
	t, err := readTable(a.paths.Models())
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	if err != nil {
		a.board.Say(event.LevelWarn, "%s is not used: %v; jcode models update reads it again", a.paths.Models(), err)
		return out
	}
	for name, info := range t.Own() {
		mine, ok := out[name]
		if !ok {
			out[name] = info
			continue
		}
		out[name] = mine.Over(info)
	}
	return out
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
