package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// Where there is no home folder, or none that can be written, the tour's go has a cache of
// its own.
func TestTourNeedsNoHomeFolder(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		goCache, cache string
		own            bool
	}{
		"a cache that is named":  {home, "", false},
		"a home of the person's": {"", home, false},
		"no home":                {"", "", true},
		"a home that is no home": {"", filepath.Join(file, "home"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOCACHE", c.goCache)
			for _, v := range []string{"HOME", "home", "XDG_CACHE_HOME", "LocalAppData"} {
				t.Setenv(v, c.cache)
			}
			env := goEnv(dir)
			if (env != nil) != c.own {
				t.Errorf("%v", env)
			}
			if c.own && filepath.Dir(env["GOCACHE"]) != dir {
				t.Errorf("the cache is at %s", env["GOCACHE"])
			}
		})
	}
}
