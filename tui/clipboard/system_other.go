//go:build !darwin && !windows

package clipboard

// systemPrograms returns those of Windows when this is a Linux inside it.
func systemPrograms(env func(string) string) []program {
	if env("WSL_DISTRO_NAME") == "" {
		return nil
	}
	return windowsPrograms()
}
