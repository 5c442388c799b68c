// Command bare is the smallest terminal program that links what jcode links: the time to
// its first frame is what the libraries and the system take.
package main

import (
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
	_ "github.com/fsnotify/fsnotify"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/sashabaranov/go-openai"
	_ "github.com/yuin/gopher-lua"
	_ "modernc.org/sqlite"
)

type screen struct{}

func (screen) Init() tea.Cmd                         { return nil }
func (s screen) Update(tea.Msg) (tea.Model, tea.Cmd) { return s, nil }

func (screen) View() tea.View {
	v := tea.NewView("bare program\n\n› ")
	v.AltScreen = true
	return v
}

func main() {
	if _, err := tea.NewProgram(screen{}).Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
