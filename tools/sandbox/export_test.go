package sandbox

// WithoutNamespaces makes the box behave as on a kernel that has Landlock only.
func (b *Box) WithoutNamespaces() {
	r := b.probed()
	r.Shields, r.Processes, r.Network = false, false, ""
	if r.Landlock >= 4 {
		r.Network = "tcp"
	}
	b.probed = func() Report { return r }
}

// WithoutProcesses makes the box behave as where /proc can't be mounted.
func (b *Box) WithoutProcesses() {
	r := b.probed()
	r.Processes = false
	b.probed = func() Report { return r }
}

// SearchAtMost makes the box search that many folders for protected files.
func (b *Box) SearchAtMost(folders int) { b.index.most = folders }
