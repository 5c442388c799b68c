//go:build !darwin && !windows

package tui

// systemClipboards returns those of Windows when this is a Linux inside it.
func systemClipboards(env func(string) string) []clipboard {
	if env("WSL_DISTRO_NAME") == "" {
		return nil
	}
	return windowsClipboards()
}
