/// x
package struct ConfigurationCheck {
    package var lines: [String] = []
    package var json: String = ""
    package init(_ c: Configuration) {}
}
