package cli

import (
	"os"
	"path/filepath"
)

// home is where jcode keeps its configuration and its data.
type home struct{ config, data string }

func newHome(getenv func(string) string) (home, error) {
	if dir := getenv("JCODE_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return home{}, usageError("JCODE_HOME: %w", err)
		}
		return home{config: abs, data: abs}, nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return home{}, usageError("no home folder (%w): set JCODE_HOME", err)
	}
	under := func(env, fallback string) string {
		if dir := getenv(env); filepath.IsAbs(dir) {
			return filepath.Join(dir, "jcode")
		}
		return filepath.Join(user, fallback, "jcode")
	}
	return home{
		config: under("XDG_CONFIG_HOME", ".config"),
		data:   under("XDG_DATA_HOME", filepath.Join(".local", "share")),
	}, nil
}
