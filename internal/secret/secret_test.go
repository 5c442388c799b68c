package secret_test

import (
	"testing"

	"jcode/internal/secret"
)

func TestNamesOfSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "openai_api_key": true, "apiKey": true, "api-key": true, "TOKEN": true, "PASSWORD": true, "DB_PWD": true, "PGPASSWORD": true, "VAULT_SECRET": true,
		"DB_PASS": true, "SSHPASS": true, "JWT": true, "COOKIE": true, "STRIPE_SK": true, "AZURE_CONNECTION_STRING": true, "SLACK_WEBHOOK_URL": true, "accessToken": true, "Authorization": true, "OTEL_EXPORTER_OTLP_HEADERS": true, "HEADERS": false,
		"PWD": false, "OLDPWD": false, "KEY": false, "PATH": false, "MAX_TOKENS": false, "maxTokens": false, "SSH_AUTH_SOCK": false, "XAUTHORITY": false, "VERIFY_BYPASS": false,
		"": false, "_": false, "KEYBOARD_LAYOUT": false, "GOFLAGS": false, "AWS_PROFILE": false, "OPENAI_BASE_URL": false, "GOPRIVATE": false, "keyEnv": false, "api_key_env": false, "DATABASE_URL": false,
	} {
		if got := secret.Name(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"key": true, "--api-key": true, "sig": true, "code": true, "auth": true, "--pat": true, "v": false, "monkey": false, "--max-tokens": false, "verbose": false} {
		if got := secret.Parameter(name); got != want {
			t.Errorf("parameter %q: %v, want %v", name, got, want)
		}
	}
}

func TestKeysInHexadecimalDigitsAreSecretsUnderNeutralNames(t *testing.T) {
	const hex32, hex40, hex64 = "9f86d081884c7d659a2feaa0c55ad015", "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	for _, tc := range []struct {
		name, value string
		want        bool
	}{
		{"FOO", hex32, true},
		{"MYSERVICE", hex40, true},
		{"WEATHER", hex64, true},
		{"X", "0x" + hex64, true},
		{"DD_APP", hex32, true},
		{"FOO", "9F86D081884C7D659A2FEAA0C55AD015", true},
		{"GITHUB_SHA", hex40, false},
		{"CI_COMMIT_SHA", hex40, false},
		{"GIT_COMMIT", hex40, false},
		{"CIRCLE_SHA1", hex40, false},
		{"SOURCE_VERSION", hex40, false},
		{"BUILD_VCS_NUMBER", hex40, false},
		{"INVOCATION_ID", hex32, false},
		{"TRACE_ID", hex32, false},
		{"IMAGE_DIGEST", hex64, false},
		{"CHECKSUM", hex64, false},
		{"FILE_SHA256", hex64, false},
		{"machineId", hex32, false},
		{"HEAD_REF", hex40, false},
		{"FOO", "deadbeef", false},
		{"FOO", "0123456789012345678901234567890123456789", false},
		{"FOO", "ffffffffffffffffffffffffffffffff", false},
		{"FOO", "sha256:" + hex64, false},
		{"FOO", "8c2d0f0a-5f5e-4c8d-9b6f-0f6f3c1d2e3f", false},
		{"WORDS", "decade facade accede efface", false},
		{"PATH", "/nix/store/" + hex32 + "/bin", false},
		{"", "", false},
	} {
		if got := secret.Variable(tc.name, tc.value); got != tc.want {
			t.Errorf("%s=%s: %v, want %v", tc.name, tc.value, got, tc.want)
		}
	}
}

func TestValuesThatAreSecrets(t *testing.T) {
	for value, want := range map[string]bool{
		"postgres://u:p@h/db": true, "http://u:p@proxy:3128": true, "redis://:p@h:6379": true, "u:p@tcp(h)/db": true, "https://0123456789abcdef0123@h/x": true,
		"DefaultEndpointsProtocol=https;AccountKey=abc": true, "host=h password=x": true, "https://hooks.slack.com/services/T0/B0/xyz": true, "https://discord.com/api/webhooks/1/x": true,
		"eyJhbGciOi.eyJzdWIi.c2ln": true, "ghp_0123456789abcdefghij": true, "a7Bk9Qz2Lm4Xr8Tw1Vn5Yc3D": true, "-----BEGIN PRIVATE KEY-----": true,
		// In the midst of a value, and of services under names that say nothing.
		"me:ghp_0123456789abcdefghij": true, "region=eu;id=AKIA0123456789ABCDEF": true, `["sk-proj-0123456789abcdefghij"]`: true, "user:a7Bk9Qz2Lm4Xr8Tw1Vn5Yc3D": true, "https://api.example.com/?v=1&id=gsk_0123456789abcdefghij": true,
		"SG.0123456789abcdefghij.xyz": true, "hvs.0123456789abcdefghij": true, "dckr_pat_0123456789abcdefghij": true, "whsec_0123456789abcdefghij": true, "--user me:glpat-0123456789abcdefghij": true, "eyJhbGciOiJIUzI1NiJ9.e30": true,
		"sk-learn-examples-of-mine": true, "lib:sk-learn-examples-of-mine": false, "/home/me/sk-learn-examples-2024:/usr/lib": false, "unix:path=/run/user/1000/bus,guid=0123456789abcdef0123456789abcdef": false, "w0t0p0:8C2D0F0A-5F5E-4C8D-9B6F-0F6F3C1D2E3F": false,
		"npm/10.9.2 node/v22.12.0 linux x64 workspaces/false": false, "-Xmx2g -XX:+UseG1GC -Dfile.encoding=UTF-8": false,
		"": false, "/usr/bin:/bin": false, "ssh://git@host/repo": false, "https://host/docs/hooks.html": false, "postgres://u@h/db": false, "0123456789abcdef0123456789abcdef01234567": false,
		"8c2d0f0a-5f5e-4c8d-9b6f-0f6f3c1d2e3f": false, "di=01;34:ln=01;36": false, "git@github.com:owner/repo.git": false, "/usr/lib/jvm/java-17-openjdk-amd64": false, "me@example.org": false,
	} {
		if got := secret.Value(value); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
