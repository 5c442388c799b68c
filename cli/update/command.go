package updatecli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"jcode/cli/console"
	"jcode/internal/text"
)

const (
	updateWait  = 15 * time.Second
	maxNotice   = 1 << 20 // bytes of an answer about the newest release
	shownNotice = 200     // characters of what such an answer says
)

// Setup is what `jcode update` is given.
type Setup struct {
	console.Streams
	Release string // this one
	Agent   string // how jcode calls itself
	// Address returns the setting update.url.
	Address func(ctx context.Context) (string, error)
}

// Command is `jcode update`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

// Cmd says whether there is a newer release. Nothing is fetched unless a person has configured an
// address, and asks.
type Cmd struct {
	Check bool `help:"Ask the address of update.url for the newest release."`
}

// newest is the reply of update.url: our own form, or a release of a code host.
type newest struct {
	Version string `json:"version"`
	URL     string `json:"url"`
	Tag     string `json:"tag_name"`
	Page    string `json:"html_url"`
}

// Run asks and reports.
func (c *Cmd) Run(ctx context.Context, std Setup) error {
	if !c.Check {
		return console.Usage("jcode does not replace itself: update it as you installed it. `jcode update --check` says whether there is a newer release")
	}
	address, err := std.Address(ctx)
	if err != nil {
		return err
	}
	if address == "" {
		return console.Usage("config.json: update.url is not set, and jcode contacts no server on its own: set it to an address that answers with {\"version\": …, \"url\": …} or with a code host's latest release")
	}
	found, err := fetchNewest(ctx, address, std.Agent)
	if err != nil {
		return &console.Exit{Code: console.ExitModel, Err: fmt.Errorf("update.url: %w", err)}
	}
	if semver.Compare("v"+found.Version, "v"+std.Release) <= 0 {
		fmt.Fprintf(std.Out, "jcode %s is the newest release.\n", std.Release)
		return nil
	}
	fmt.Fprintf(std.Out, "jcode %s is available; this is %s.\n", found.Version, std.Release)
	if found.URL != "" {
		fmt.Fprintln(std.Out, text.Clean(found.URL))
	}
	return nil
}

// fetchNewest reads what an address says about the newest release.
func fetchNewest(ctx context.Context, address, agent string) (newest, error) {
	var found newest
	ctx, cancel := context.WithTimeout(ctx, updateWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return found, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", agent)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return found, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxNotice))
	if err != nil {
		return found, err
	}
	said := text.Truncate(text.Clean(strings.TrimSpace(string(body))), shownNotice, "…")
	if resp.StatusCode != http.StatusOK {
		return found, fmt.Errorf("%s: %s", resp.Status, said)
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return found, fmt.Errorf("the answer is not JSON: %s", said)
	}
	if found.Version == "" {
		found.Version, found.URL = found.Tag, found.Page
	}
	found.Version = strings.TrimPrefix(found.Version, "v")
	if !semver.IsValid("v" + found.Version) {
		return found, fmt.Errorf("the answer names no version such as 1.2.3: %s", said)
	}
	return found, nil
}
