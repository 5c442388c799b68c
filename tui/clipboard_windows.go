package tui

// systemClipboards returns the programs that the system includes.
func systemClipboards(func(string) string) []clipboard { return windowsClipboards() }
