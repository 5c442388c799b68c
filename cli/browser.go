package cli

import (
	"context"
	"fmt"
	"strings"

	"jcode/internal/launch"
)

// browser opens addresses with the program of $BROWSER, otherwise with the system's.
type browser struct {
	programs launch.Programs
	named    string // the command of $BROWSER
}

// newBrowser returns the person's browser.
func newBrowser(a *app) browser { return browser{a.programs(), a.std.Getenv("BROWSER")} }

// open opens an address.
func (b browser) open(ctx context.Context, url string) error {
	argv := strings.Fields(b.named)
	if len(argv) == 0 {
		var err error
		if argv, err = systemBrowser(b.programs); err != nil {
			return err
		}
	}
	cmd, err := b.programs.Own(context.WithoutCancel(ctx), argv[0], append(argv[1:], url)...)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", url, err)
	}
	go func() { _ = cmd.Wait() }() // the browser reports errors to the person itself
	return nil
}
