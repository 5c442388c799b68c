package provider

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
)

// AWSProfile is a profile of the files that AWS's own tools share.
type AWSProfile struct {
	Name   string
	Values map[string]string // of the configuration and of the credentials, which take precedence
}

// maxProfiles bounds a file of profiles.
const maxProfiles = 1 << 20

// ReadAWSProfile reads a profile: that of the name, otherwise of AWS_PROFILE, otherwise the default one. A file that
// does not exist is empty.
func ReadAWSProfile(env func(string) string, name string) (AWSProfile, error) {
	p := AWSProfile{Name: cmp.Or(name, env("AWS_PROFILE"), env("AWS_DEFAULT_PROFILE"), "default"), Values: map[string]string{}}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	heading := "profile " + p.Name
	if p.Name == "default" {
		heading = p.Name
	}
	config, err := readINI(cmp.Or(env("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config")))
	if err != nil {
		return p, err
	}
	credentials, err := readINI(cmp.Or(env("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials")))
	if err != nil {
		return p, err
	}
	_, known := config[heading]
	_, has := credentials[p.Name]
	if !known && !has && p.Name != "default" {
		return p, fmt.Errorf("AWS's files have no profile %q", p.Name)
	}
	maps.Copy(p.Values, config[heading])
	maps.Copy(p.Values, credentials[p.Name])
	return p, nil
}

// readINI reads the sections of a file. Settings within a setting, which are indented, are left out.
func readINI(path string) (map[string]map[string]string, error) {
	data, err := paths.ReadFile(path, maxProfiles)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	out, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' || line[0] == ' ' || line[0] == '\t':
			continue
		case trimmed[0] == '[':
			inner, _, _ := strings.Cut(trimmed[1:], "]")
			section = strings.Join(strings.Fields(inner), " ")
			if out[section] == nil {
				out[section] = map[string]string{}
			}
			continue
		}
		if key, value, ok := strings.Cut(trimmed, "="); ok && section != "" {
			value, _, _ = strings.Cut(value, " #")
			out[section][strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	return out, nil
}
