package clipboard

import (
	"encoding/hex"
	"strings"
)

// systemPrograms returns the programs that the system includes.
func systemPrograms(func(string) string) []program {
	return []program{
		{name: "pbcopy", write: []string{}},
		{name: "pngpaste", picture: []string{"-"}},
		{name: "osascript", picture: []string{"-e", "the clipboard as «class PNGf»"}, decode: fromAppleScript},
		{name: "pbpaste", text: []string{}},
	}
}

// fromAppleScript reads "«data PNGf89504E47…»".
func fromAppleScript(out []byte) ([]byte, error) {
	_, digits, _ := strings.Cut(string(out), "PNGf")
	digits, _, _ = strings.Cut(digits, "»")
	return hex.DecodeString(digits)
}
