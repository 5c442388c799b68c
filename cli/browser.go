package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// openInBrowser opens an address with the program of $BROWSER, else with the system's.
func openInBrowser(ctx context.Context, browser, url string) error {
	argv := strings.Fields(browser)
	if len(argv) == 0 {
		switch runtime.GOOS {
		case "darwin":
			argv = []string{"open"}
		case "windows":
			argv = []string{"rundll32", "url.dll,FileProtocolHandler"}
		default:
			if _, err := exec.LookPath("xdg-open"); err != nil {
				return errors.New("no $BROWSER is set")
			}
			argv = []string{"xdg-open"}
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], append(argv[1:], url)...)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open %s: %w", url, err)
	}
	go func() { _ = cmd.Wait() }() // the browser reports to the person itself
	return nil
}
