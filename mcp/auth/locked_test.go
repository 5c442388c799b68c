package auth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zalando/go-keyring"
)

// vault is a keyring that can be locked, silent or absent.
type vault struct {
	mu     sync.Mutex
	kept   map[string]string
	fault  error
	silent chan struct{} // no call returns before it is closed; nil for none
	calls  int
}

func (v *vault) call(f func() error) error {
	v.mu.Lock()
	v.calls++
	silent := v.silent
	v.mu.Unlock()
	if silent != nil {
		<-silent
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fault != nil {
		return v.fault
	}
	return f()
}

func (v *vault) get(key string) (text string, err error) {
	err = v.call(func() error {
		var ok bool
		if text, ok = v.kept[key]; !ok {
			return keyring.ErrNotFound
		}
		return nil
	})
	return text, err
}

func (v *vault) set(key, value string) error {
	return v.call(func() error { v.kept[key] = value; return nil })
}

func (v *vault) remove(key string) error {
	return v.call(func() error {
		if _, ok := v.kept[key]; !ok {
			return keyring.ErrNotFound
		}
		delete(v.kept, key)
		return nil
	})
}

func (v *vault) be(fault error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fault = fault
}

// asked counts the calls.
func (v *vault) asked() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.calls
}

// lockedRig signs in while the keyring is open, then locks it.
func lockedRig(t *testing.T) (*rig, *vault) {
	t.Helper()
	r, v := newRig(t, "ok"), &vault{kept: map[string]string{}}
	r.k.store = keyringStore{fileStore{filepath.Join(r.k.dir, tokenFile)}, newRing(v)}
	r.mustSignIn(&browser{})
	v.be(errors.New("failed to unlock correct collection"))
	return r, v
}

// next is another process with the same keyring.
func (r *rig) next(v *vault) {
	r.k = testKeeper(r.k.dir)
	r.k.store = keyringStore{fileStore{filepath.Join(r.k.dir, tokenFile)}, newRing(v)}
}

// A keyring that is locked is not a missing sign-in: calls and a sign-out say so, and nothing is lost.
func TestLockedKeyringIsNamed(t *testing.T) {
	t.Parallel()
	r, v := lockedRig(t)
	r.next(v)
	var locked *KeyringError
	if _, err := r.call(r.k.For(r.server)); !errors.As(err, &locked) || !strings.Contains(err.Error(), "the keyring is locked") {
		t.Errorf("a call: %v", err)
	}
	if had, err := r.k.Forget(t.Context(), r.server); had || !errors.As(err, &locked) {
		t.Errorf("a sign-out: %v %v", had, err)
	}
	if where := r.k.Where(); !strings.Contains(where, "the keyring is locked") || !strings.Contains(where, tokenFile) {
		t.Error(where)
	}
	if v.asked() > 4 {
		t.Errorf("a locked keyring was asked %d times", v.asked())
	}
	v.be(nil)
	r.next(v)
	if !r.open() {
		t.Error("the sign-in is lost")
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil || r.open() {
		t.Errorf("%v %v", had, err)
	}
}

// A person may sign in although the keyring is locked. What they did last counts, and is moved to the keyring when it
// is open again.
func TestSignInWhileTheKeyringIsLocked(t *testing.T) {
	t.Parallel()
	r, v := lockedRig(t)
	r.next(v)
	old := v.kept[r.server.key()]
	r.srv.Revoke()
	r.mustSignIn(&browser{})
	if !r.open() {
		t.Error("not let in")
	}
	file := filepath.Join(r.k.dir, tokenFile)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	v.be(nil)
	r.next(v)
	if !r.open() {
		t.Error("the older sign-in of the keyring counts")
	}
	r.srv.Expire()
	if !r.open() || v.kept[r.server.key()] == old {
		t.Error("the keyring has the older sign-in")
	}
	if all, err := (fileStore{file}).all(); err != nil || len(all) != 0 {
		t.Errorf("%v %v", all, err)
	}
}

// A sign-out removes what can be removed, and says what may be left.
func TestSignOutWhileTheKeyringIsLocked(t *testing.T) {
	t.Parallel()
	r, v := lockedRig(t)
	r.next(v)
	r.mustSignIn(&browser{}) // in the file
	var locked *KeyringError
	if had, err := r.k.Forget(t.Context(), r.server); !had || !errors.As(err, &locked) {
		t.Errorf("%v %v", had, err)
	}
	if rec, err := (fileStore{filepath.Join(r.k.dir, tokenFile)}).get(r.server.key()); err != nil || rec.Server != "" {
		t.Errorf("%+v %v", rec, err)
	}
}

// A server that needs no sign-in works while the keyring is locked.
func TestLockedKeyringHindersNoOtherServer(t *testing.T) {
	t.Parallel()
	r, v := lockedRig(t)
	r.next(v)
	r.srv.Accept("")
	if _, err := r.call(r.k.For(r.server)); err != nil {
		t.Error(err)
	}
}

// A keyring that never answers costs a process one short wait. It is used again once it has answered after all.
func TestSilentKeyringIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{kept: map[string]string{"k": `{"server":"x","access":"kept"}`}, silent: make(chan struct{})}
		s := keyringStore{fileStore{filepath.Join(t.TempDir(), tokenFile)}, newRing(v)}
		start := time.Now()
		for range 20 {
			var locked *KeyringError
			if _, err := s.get("k"); !errors.As(err, &locked) || !strings.Contains(err.Error(), "does not answer") {
				t.Fatal(err)
			}
		}
		if err := s.put("other", record{Server: "y"}); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != keyringPatience || v.asked() != 1 {
			t.Errorf("%d calls, %v", v.asked(), took)
		}
		close(v.silent)
		synctest.Wait()
		if rec, err := s.get("k"); err != nil || rec.Access != "kept" {
			t.Errorf("%+v %v", rec, err)
		}
	})
}

// Where there is no keyring, the file is used without a word.
func TestSystemWithoutAKeyringUsesTheFile(t *testing.T) {
	t.Parallel()
	r, v := newRig(t, "ok"), &vault{fault: keyring.ErrUnsupportedPlatform}
	r.next(v)
	r.mustSignIn(&browser{})
	file := filepath.Join(r.k.dir, tokenFile)
	if !r.open() || r.k.Where() != file || v.asked() != 1 {
		t.Errorf("%s, %d calls", r.k.Where(), v.asked())
	}
	if had, err := r.k.Forget(t.Context(), r.server); !had || err != nil {
		t.Errorf("%v %v", had, err)
	}
}

// A keyring that stays locked is asked less and less often, since each time may show a dialog, and is used as soon as it
// opens.
func TestKeyringThatStaysLockedIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := &vault{kept: map[string]string{"k": `{"server":"x","access":"kept"}`}, fault: errors.New("the dialog was dismissed")}
		s := keyringStore{fileStore{filepath.Join(t.TempDir(), tokenFile)}, newRing(v)}
		for range 600 { // a sign-in looks once a second
			if _, err := s.get("k"); err == nil {
				t.Fatal("it was read")
			}
			time.Sleep(time.Second)
		}
		if n := v.asked(); n > 7 {
			t.Errorf("asked %d times", n)
		}
		v.be(nil)
		time.Sleep(keyringLongest)
		if rec, err := s.get("k"); err != nil || rec.Access != "kept" {
			t.Errorf("%+v %v", rec, err)
		}
	})
}

// An entry of the keyring that can't be decoded is named, and replaced by a new sign-in.
func TestDamagedEntryIsReplacedByASignIn(t *testing.T) {
	t.Parallel()
	r, v := lockedRig(t)
	v.be(nil)
	v.kept[r.server.key()] = "{"
	r.next(v)
	if _, err := r.call(r.k.For(r.server)); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), "sign in again") {
		t.Errorf("%v", err)
	}
	r.mustSignIn(&browser{})
	if !r.open() {
		t.Error("not let in")
	}
	v.kept[r.server.key()] = "{"
	r.next(v)
	if _, err := r.k.Forget(t.Context(), r.server); err != nil || len(v.kept) != 0 {
		t.Errorf("%v %v", v.kept, err)
	}
}
