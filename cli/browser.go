package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// openInBrowser opens an address with the program of $BROWSER, otherwise with the system's.
func openInBrowser(ctx context.Context, browser, url string) error {
	argv := strings.Fields(browser)
	if len(argv) == 0 {
		var err error
		if argv, err = systemBrowser(); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], append(argv[1:], url)...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open %s: %w", url, err)
	}
	go func() { _ = cmd.Wait() }() // the browser reports errors to the person itself
	return nil
}
