package tui

// systemClipboards are those that the system brings.
func systemClipboards(func(string) string) []clipboard { return windowsClipboards() }
