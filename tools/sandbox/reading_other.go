//go:build !linux

package sandbox

import "errors"

var errNoReading = errors.New("not available on this system")

func canRead() (ok bool, why string) { return false, "there is no sandbox for this system" }

func ruleset(readable) (fd int, err error) { return -1, errNoReading }

func closeRules(int) {}

func enterReading(int) error { return errNoReading }
