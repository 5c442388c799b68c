// Package browser opens addresses in the person's browser.
package browser

import (
	"context"
	"fmt"
	"strings"

	"jcode/internal/launch"
)

// Browser opens addresses with the program of $BROWSER, otherwise with the system's.
type Browser struct {
	Programs launch.Programs // finds the program that opens them
	Named    string          // the command of $BROWSER
}

// Open opens an address. It returns before the program ends.
func (b Browser) Open(ctx context.Context, url string) error {
	argv := strings.Fields(b.Named)
	if len(argv) == 0 {
		var err error
		if argv, err = systemBrowser(b.Programs); err != nil {
			return err
		}
	}
	cmd, err := b.Programs.Own(context.WithoutCancel(ctx), argv[0], append(argv[1:], url)...)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", url, err)
	}
	go func() { _ = cmd.Wait() }() // the browser reports errors to the person itself
	return nil
}
