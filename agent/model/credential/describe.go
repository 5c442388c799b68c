package credential

import (
	"context"
	"fmt"
	"time"

	"jcode/agent/model/provider"
)

// Describe gets a provider's credentials once, and says of what kind they are and how long they hold, never what they
// are; "" if its key never changes.
func Describe(ctx context.Context, cfg provider.Config) (string, error) {
	var w written
	var err error
	from := ""
	switch s := Of(cfg).(type) {
	case *command:
		w, err = s.get(ctx)
		from = "written by " + s.name()
	case *awsSource:
		w, err = s.credentials(ctx)
		from = "credentials of AWS for " + cfg.Region
		if s.byUser != nil {
			from += ", written by " + s.byUser.name()
		}
	default:
		return "", nil
	}
	if err != nil {
		return "", err
	}
	until := ""
	if !w.ends.IsZero() {
		until = fmt.Sprintf(", until %s", w.ends.Local().Format(time.TimeOnly))
	}
	return fmt.Sprintf("%s%s (not shown)", from, until), nil
}
