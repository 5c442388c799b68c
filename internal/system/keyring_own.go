//go:build darwin || windows

package system

func lacksKeyring(error) bool { return false }
