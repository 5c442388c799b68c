package permission

import "jcode/tools"

// input judges text for a program that runs and is no shell: what it means there can't be told, so it is code of its own. A
// person may allow whatever is typed into one job, which its hash names.
func (c *checking) input(a tools.Access) verdict {
	if v, ok := c.restricted(func(r Rule) bool {
		return (r.named("exec") || r.named(c.req.Spec.Name)) && !r.HasPattern
	}); ok {
		return v
	}
	if v, ok := c.allowed(a.Hash, func(r Rule) bool {
		return r.named("exec") && !r.HasPattern || r.Tool == string(tools.AccessInput) && r.Pattern == a.Target
	}); ok {
		return v
	}
	v := verdict{reason: "it is text for " + a.Target + ", which may do anything with it", store: []string{inputRule(a.Target)}, hash: a.Hash, sessionOnly: true}
	if c.confine() {
		return verdict{by: tools.ByMode, rule: string(tools.ModeAuto), confine: true}
	}
	return c.byMode(v, false)
}

// inputRule is the rule of whoever allows all text for a program.
func inputRule(target string) string { return string(tools.AccessInput) + "(" + target + ")" }
