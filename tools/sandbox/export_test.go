package sandbox

// WithoutNamespaces makes the box behave as on a kernel that has Landlock only.
func (b *Box) WithoutNamespaces() {
	r := b.probed()
	r.Shields, r.Network = false, ""
	if r.Landlock >= 4 {
		r.Network = "tcp"
	}
	b.probed = func() Report { return r }
}

// SearchAtMost makes the box search that many folders for protected files.
func (b *Box) SearchAtMost(folders int) { b.index.most = folders }
