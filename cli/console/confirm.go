package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Confirm puts a question to the person at the terminal. Only y and yes are a yes.
func Confirm(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question+" [y/N] ")
	var word string
	if _, err := fmt.Fscanln(in, &word); err != nil && word == "" {
		return false
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(word))
}
