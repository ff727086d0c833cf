internal import ArgumentParser

@main
struct Dictum: ParsableCommand {}
