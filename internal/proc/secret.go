package proc

import (
	"slices"

	"jcode/internal/secret"
)

// WithoutSecrets returns an environment without variables that look like a secret, by name or value, except
// for the names in keep.
func WithoutSecrets(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, value, ok := split(kv)
		return ok && !contains(keep, name) && secret.Variable(name, value)
	})
}

// Withheld returns the names of the variables that CommandEnv removes because of their name or value, sorted.
func Withheld(base []string, rules EnvRules) []string {
	var out []string
	for _, kv := range base {
		name, value, ok := split(kv)
		if isProxy(name) {
			value = withoutPassword(value)
		}
		if ok && name != markerName && !contains(rules.Drop, name) && !contains(rules.Keep, name) && secret.Variable(name, value) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
