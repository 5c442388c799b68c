package shell

// AnalyseAsking is Analyse, and returns how often the file system was asked.
func AnalyseAsking(text string, at Scene) (Line, int) {
	a := newAnalysis(at)
	a.whole(text)
	return a.line, a.disk.asked
}
