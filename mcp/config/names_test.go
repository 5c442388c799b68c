package config

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWireNamesAreValidAndOneToOne(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	long := strings.Repeat("x", 200)
	servers := []string{"a", "a_", "a-b", KeyFor("5b72495d-5e79-4584-8012-2bb5911c8de1"), KeyFor("répertoire"), KeyFor("a__b"), KeyFor("a b")}
	names := []string{"b", "_b", "b__c", "a.b", "a/b", "a_b", "a b", "répertoire", "notion.search/page", "slack_search_public_and_private", long, long + "y", "read", "constructor", "\xff", "日本"}
	seen := map[string]string{}
	for _, s := range servers {
		for _, n := range names {
			w := WireName(s, n)
			if !valid.MatchString(w) {
				t.Errorf("WireName(%q, %q) = %q", s, n, w)
			}
			if other, taken := seen[w]; taken {
				t.Errorf("%q stands for %q and %q", w, other, s+"/"+n)
			}
			seen[w] = s + "/" + n
			if w != WireName(s, n) {
				t.Errorf("not pure")
			}
		}
	}
}

func TestWireNamePlainForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ server, tool, want string }{
		{"github", "search", "mcp__github__search"},
		{"a", "b__c", "mcp__a__b__c"},
		{"fs", "read_file", "mcp__fs__read_file"},
	} {
		if got := WireName(c.server, c.tool); got != c.want {
			t.Errorf("WireName(%q, %q) = %q, want %q", c.server, c.tool, got, c.want)
		}
	}
	if got := WireName("a", "_b"); !strings.HasPrefix(got, "mcp__a___b_") || len(got) != len("mcp__a___b_")+8 {
		t.Errorf("a leading underscore needs a hash: %q", got)
	}
	// 72 characters in full: shortened (openai/codex#1289).
	if got := WireName("very-long-server-name-0123456789", strings.Repeat("t", 33)); len(got) != 64 {
		t.Errorf("len(%q) = %d", got, len(got))
	}
}

func TestServerKeys(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"foo": true, "foo-bar": true, "a_b": true, "": false, "a__b": false, "ä": false, "a b": false, strings.Repeat("x", 33): false, "a:b": false} {
		if (CheckKey(name) == nil) != ok {
			t.Errorf("CheckServerKey(%q): %v", name, CheckKey(name))
		}
	}
}

func TestServerKeyForAnyName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		key := KeyFor(name)
		if !validServerKey(key) {
			t.Fatalf("serverKeyFor(%q) = %q", name, key)
		}
	})
}
