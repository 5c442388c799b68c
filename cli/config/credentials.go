package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
	"jcode/internal/system"
)

// Credentials are keys by provider, kept in a file that only the person can read. They
// are never part of a Config, and print as dots.
type Credentials map[string]string

// String hides the keys.
func (c Credentials) String() string { return fmt.Sprintf("%d keys", len(c)) }

// GoString hides the keys.
func (c Credentials) GoString() string { return c.String() }

// ReadCredentials reads the keys; a missing file contains none. Permissions that let others read the file are
// removed, and reported as a warning.
func ReadCredentials(file string) (c Credentials, warning string, err error) {
	data, err := readFile("", file)
	if err != nil {
		return nil, "", fmt.Errorf("%s %w", file, err)
	}
	if data == nil {
		return Credentials{}, "", nil
	}
	if warning, err = tighten(file); err != nil {
		return nil, "", err
	}
	d := parse(file, data)
	if len(d.problems) > 0 {
		return nil, warning, errors.New(d.problems[0].String()) // contains a place, never a value
	}
	c = Credentials{}
	for _, m := range d.root.Members {
		key, ok := plain(m.Value).(string)
		if !ok {
			line, _ := d.at(m.Value.StartOffset)
			return nil, warning, fmt.Errorf("%s:%d: %s: must be a text in double quotes", file, line, jsonedit.Name(m))
		}
		if key = strings.TrimSpace(key); key != "" {
			c[jsonedit.Name(m)] = key
		}
	}
	return c, warning, nil
}

// tighten removes the permissions of others from the file of keys.
func tighten(file string) (warning string, err error) {
	if !system.HasModes() {
		return "", nil // the folder's permissions apply
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("check rights: %w", err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return "", nil
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return "", fmt.Errorf("%s can be read by others: %w", file, err)
	}
	return fmt.Sprintf("%s could be read by others (mode %04o): it is private now", file, info.Mode().Perm()), nil
}

// StoreKey stores a provider's key, or removes it if it is empty. The file is created with mode 0600.
func StoreKey(file, provider, key string) error {
	provider, key = strings.TrimSpace(provider), strings.TrimSpace(key)
	if provider == "" || strings.ContainsAny(key, "\r\n\x00") {
		return errors.New("store key: a provider's name and a key of one line are needed")
	}
	if _, err := os.Stat(file); err == nil {
		if _, err := tighten(file); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(key)
	if err != nil {
		return errors.New("store key: it is not text")
	}
	return jsonedit.Edit(file, func(root *hujson.Object) error {
		if key == "" {
			jsonedit.Delete(root, provider)
			return nil
		}
		return jsonedit.Set(root, []string{provider}, raw)
	})
}
