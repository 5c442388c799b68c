package typed

import (
	"path/filepath"
	"slices"
	"testing"

	"jcode/session"
)

func TestTheInputMovesWithTheSessionAndAPrivateOneLeavesNothing(t *testing.T) {
	store, err := session.Open(t.Context(), filepath.Join(t.TempDir(), "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Leave() })
	open, private := "", false
	h := History{Store: store, Project: "p", Cwd: "/p", Session: func() string { return open }, Private: func() bool { return private }, Saved: &Key{}}
	set := func(text string) {
		t.Helper()
		if err := h.SetDraft(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(want string) {
		t.Helper()
		if got, err := h.Draft(t.Context()); err != nil || got != want {
			t.Errorf("the draft is %q (%v), want %q", got, err, want)
		}
	}
	set("half a prompt")
	kept("half a prompt")
	open = "session-1"
	set("half a prompt, longer")
	kept("half a prompt, longer")
	open = ""
	kept("") // it moved
	open = "session-1"
	set("a secret")
	private = true
	set("a secret, longer")
	kept("")
	if err := h.Add(t.Context(), "secret prompt"); err != nil {
		t.Fatal(err)
	}
	private = false
	if err := h.Add(t.Context(), "prompt"); err != nil {
		t.Fatal(err)
	}
	if all, err := h.Recent(t.Context()); err != nil || !slices.Equal(all, []string{"prompt"}) {
		t.Errorf("%q, %v", all, err)
	}
}
