package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/remote"
)

// Device is a browser or program that may see the page. Its key is kept as a hash.
type Device struct {
	ID      string      `json:"id"` // the folder of its addresses
	Name    string      `json:"name"`
	Role    remote.Role `json:"role"`
	Program bool        `json:"program,omitempty"` // its key comes as a bearer token, not as a cookie
	Hash    string      `json:"hash,omitempty"`
	Paired  time.Time   `json:"paired"`
	Used    time.Time   `json:"used"`
}

// Devices are those of a user, in a file that several processes use.
type Devices struct{ path string }

// The limits of devices.
const (
	devicesFile = "devices"
	maxDevices  = 64
	maxFile     = 1 << 20
	lockWithin  = 5 * time.Second
	keyBytes    = 32
	maxName     = 40
	// unused is after how long without a visit a device must be paired again.
	unused = 90 * 24 * time.Hour
	// usedWithin is how precisely the last use is kept.
	usedWithin = time.Minute
)

// NewDevices returns the devices of a user whose sessions are found at a place. Nothing is read yet.
func NewDevices(at remote.Place) *Devices { return &Devices{filepath.Join(at.Dir, devicesFile)} }

// errUnknown is returned for a key that belongs to no device.
var errUnknown = errors.New("this device is not paired")

// List returns the devices, the one used last first.
func (d *Devices) List() ([]Device, error) {
	data, err := paths.ReadFile(d.path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Device
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("%s can't be read (%w): remove it, and pair your devices again", d.path, err)
	}
	slices.SortStableFunc(out, func(a, b Device) int { return b.Used.Compare(a.Used) })
	return slices.DeleteFunc(out, func(v Device) bool { return time.Since(v.Used) > unused }), nil
}

// change rewrites the list under a lock.
func (d *Devices) change(f func([]Device) ([]Device, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWithin)
	defer cancel()
	lock, err := filelock.Wait(ctx, d.path+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }() // it goes with the process anyway
	list, err := d.List()
	if err != nil {
		return err
	}
	if list, err = f(list); err != nil {
		return err
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(d.path, append(data, '\n'), atomicfile.Options{Perm: 0o600})
}

// Add makes a device and returns it with its key, which is kept nowhere.
func (d *Devices) Add(name string, role remote.Role, program bool) (Device, string, error) {
	name = text.Cut(text.OneLine(text.Visible(name)), maxName)
	if name == "" {
		name = "a browser"
	}
	key := random(keyBytes)
	v := Device{ID: random(8), Role: role, Program: program, Hash: hashOf(key), Paired: time.Now().UTC(), Used: time.Now().UTC()}
	err := d.change(func(list []Device) ([]Device, error) {
		if len(list) >= maxDevices {
			return nil, fmt.Errorf("%d devices are paired, more are not allowed: jcode serve revoke removes one", len(list))
		}
		v.Name = name
		for n := 2; slices.ContainsFunc(list, func(o Device) bool { return o.Name == v.Name }); n++ {
			v.Name = fmt.Sprintf("%s %d", name, n)
		}
		return append(list, v), nil
	})
	return v, key, err
}

// Revoke removes the devices of a name, or all.
func (d *Devices) Revoke(name string, all bool) (removed []Device, err error) {
	err = d.change(func(list []Device) ([]Device, error) {
		return slices.DeleteFunc(list, func(v Device) bool {
			gone := all || v.Name == name || v.ID == name
			if gone {
				removed = append(removed, v)
			}
			return gone
		}), nil
	})
	return removed, err
}

// known returns the device of an ID and key.
func (d *Devices) known(id, key string, program bool) (Device, error) {
	list, err := d.List()
	if err != nil {
		return Device{}, err
	}
	i := slices.IndexFunc(list, func(v Device) bool { return v.ID == id && v.Program == program })
	if i < 0 || subtle.ConstantTimeCompare([]byte(hashOf(key)), []byte(list[i].Hash)) != 1 {
		return Device{}, errUnknown
	}
	v := list[i]
	if time.Since(v.Used) > usedWithin {
		v.Used = time.Now().UTC()
		err = d.change(func(list []Device) ([]Device, error) {
			if i := slices.IndexFunc(list, func(o Device) bool { return o.ID == v.ID }); i >= 0 {
				list[i].Used = v.Used
			}
			return list, nil
		})
	}
	return v, err
}

// program returns the program that a key belongs to.
func (d *Devices) program(key string) (Device, error) {
	list, err := d.List()
	if err != nil {
		return Device{}, err
	}
	for _, v := range list {
		if v.Program && subtle.ConstantTimeCompare([]byte(hashOf(key)), []byte(v.Hash)) == 1 {
			return d.known(v.ID, key, true)
		}
	}
	return Device{}, errUnknown
}

// has reports whether a device is still paired.
func (d *Devices) has(id string) bool {
	list, err := d.List()
	return err == nil && slices.ContainsFunc(list, func(v Device) bool { return v.ID == id })
}

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it does not fail
	return hex.EncodeToString(b)
}

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(key)))
	return hex.EncodeToString(sum[:])
}
