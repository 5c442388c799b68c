package config

import (
	"fmt"
	"strings"
)

// Problem is one thing in a file that is not as it should be. What it concerns is left
// out; the rest of the file holds.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"` // 1-based, 0 for the file as a whole
	Col  int    `json:"col,omitempty"`  // 1-based, in bytes
	// Key is the dotted path of the setting, empty for the file as a whole.
	Key string `json:"key,omitempty"`
	// Text says what is wrong and what would be right.
	Text string `json:"text"`
	// Harmless problems cost nothing: an unknown key, one that stands twice.
	Harmless bool `json:"harmless,omitempty"`
}

// String gives `file:line: key: text`.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Key == "" {
			fmt.Fprintf(&b, ":%d", p.Col)
		}
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// nearest gives the candidate that a misspelt word most likely means, or "".
func nearest(word string, candidates []string) string {
	best, bestAt := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if d := distance(plainKey(word), plainKey(c)); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// plainKey makes keys comparable whatever their writing: maxTools, max_tools, max-tools.
func plainKey(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// distance counts the single changes between two words; two neighbours that change
// places are one.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var before []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}
