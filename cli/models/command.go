package modelscli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"jcode/agent/model/catalogue"
	"jcode/agent/model/provider"
	"jcode/cli/console"
	"jcode/internal/atomicfile"
	"jcode/internal/text"
)

const (
	maxTable  = 4 << 20          // bytes of a table of models
	tableWait = 15 * time.Second // for an address that has one
)

// Cmd is about the table of models and prices.
type Cmd struct {
	Show   showCmd   `cmd:"" default:"withargs" help:"Say where prices come from, and what a model costs."`
	Update updateCmd `cmd:"" help:"Read a table of models and prices from an address or a file."`
}

// Setup is what the commands of `jcode models` are given.
type Setup struct {
	console.Streams
	Version string
	// Open reads the settings. The caller closes them.
	Open func(ctx context.Context) (Opened, error)
}

// Opened is what settings and the table that is kept say of models.
type Opened struct {
	Table  string // the file of the table
	Source string // the setting update.models
	Known  map[string]catalogue.Info
	Close  func()
}

// Command is a command of `jcode models`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// showCmd says what is known of models.
type showCmd struct {
	ID []string `arg:"" optional:"" help:"IDs of models."`
}

// Run prints the sources, or what is known of models.
func (c *showCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Fprintf(std.Out, "prices of jcode %s: most of %s, from %s, not checked with the makers since; jcode models update reads a newer table\n", std.Version, catalogue.PricesDated, catalogue.PricesFrom)
	if t, err := readTable(a.Table); err == nil {
		fmt.Fprintf(std.Out, "%s, read on %s from %s\n", text.Count(len(t.Models), "model"), t.Date, text.Clean(t.Source))
	}
	own := a.Known
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

// updateCmd reads a table and keeps it. Nothing is fetched unless a person names an address, and asks.
type updateCmd struct {
	Source string `arg:"" optional:"" help:"Address or file; otherwise update.models of the settings."`
}

// Run reads, checks and keeps the table.
func (c *updateCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	source := cmp.Or(c.Source, a.Source)
	if source == "" {
		return console.Usage("config.json: update.models is not set, and jcode contacts no server on its own: give an address or a file, or set it")
	}
	data, err := tableFrom(ctx, source, std.Version)
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("%s: %w", source, err)}
	}
	t, err := catalogue.ParseTable(data)
	if err != nil {
		return console.Usage("%s: %w", source, err)
	}
	if err := atomicfile.Write(a.Table, data, atomicfile.Options{}); err != nil {
		return fmt.Errorf("keep the table: %w", err)
	}
	fmt.Fprintf(std.Out, "%s, read on %s from %s, in force from the next start\n", text.Count(len(t.Models), "model"), t.Date, text.Clean(t.Source))
	return nil
}

// tableFrom reads an address or a file.
func tableFrom(ctx context.Context, source, version string) ([]byte, error) {
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
	ctx, cancel := context.WithTimeout(ctx, tableWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "jcode/"+version)
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
