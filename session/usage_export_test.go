package session

import (
	"context"
	"testing"
)

// FillForBench writes n messages, half of them answers with usage, in one transaction.
func FillForBench(tb testing.TB, s *Store, n int) {
	ctx := context.Background()
	row, err := s.Create(ctx, Session{Model: "m"})
	if err != nil {
		tb.Fatal(err)
	}
	err = s.write(ctx, func(t *tx) error {
		for i := range n {
			m := Message{Session: row.ID, Role: RoleUser, Parts: []Part{{Kind: PartText, Text: "what is in this file, and why does it say so?"}}}
			if i%2 == 1 {
				m.Role, m.Usage = RoleAssistant, &Usage{Input: 1000 + i, Output: 50, Cached: 900, Model: "openai/gpt-5.2", Cost: 0.001}
			}
			parts, usage, err := encodeMessage(m)
			if err != nil {
				return err
			}
			if _, err := t.appendMessage(m, parts, usage); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}
