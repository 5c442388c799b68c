package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"jcode/session/db"
)

func TestASessionIsHeldOnce(t *testing.T) {
	t.Parallel()
	path := file(t)
	d, other := open(t, path, tables(words)), open(t, path, tables(words))
	h, err := d.Hold("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []*db.DB{d, other} {
		var held *db.HeldError
		if _, err := again.Hold("a"); !errors.As(err, &held) || held.Session != "a" {
			t.Errorf("got %v", err)
		}
	}
	if !other.Held("a") || other.Held("b") {
		t.Errorf("a is held: %t, b: %t", other.Held("a"), other.Held("b"))
	}
	b, err := other.Hold("b")
	if err != nil {
		t.Fatal(err)
	}
	var none *db.Hold
	if err := errors.Join(b.Release(), h.Release(), h.Release(), none.Release(), new(db.Hold).Release()); err != nil {
		t.Error(err)
	}
	if other.Held("a") {
		t.Error("a is held after its release")
	}
	if h, err = other.Hold("a"); err != nil {
		t.Fatal(err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
}

func TestALockFileOfAProcessThatEndedHoldsNothing(t *testing.T) {
	t.Parallel()
	d := open(t, file(t), tables(words))
	if err := os.MkdirAll(d.LockFolder(), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"text": "no number\n", "zero": "0\n", "empty": ""} {
		write(t, filepath.Join(d.LockFolder(), name+".lock"), content)
		if d.Held(name) {
			t.Errorf("%s is held", name)
		}
		h, err := d.Hold(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := h.Release(); err != nil {
			t.Error(err)
		}
	}
}

func TestTheNameOfALockIsNoPath(t *testing.T) {
	t.Parallel()
	d := open(t, file(t), tables(words))
	for _, name := range []string{"", "../x", `a\b`, "c:x"} {
		if _, err := d.Hold(name); err == nil {
			t.Errorf("%q was held", name)
		}
	}
}
