internal import Foundation

/// The plots of the report: SVG with the colours of the page's style sheet, without scripts.
enum EstimatePlots {
    struct Bar {
        let title: String
        let value: Double
        let text: String
        let isDelta: Bool
    }

    /// A line over the number of versions between dictionary and body.
    struct Line {
        let coding: String
        let points: [(versionsBack: Int, bytes: Int)]
    }

    private static let width = 460.0

    /// Returns horizontal bars from zero, one below the other.
    static func bars(_ bars: [Bar], label: String) -> String {
        // About the width of a character, so that no title is cut off.
        let left = max(58, 16 + 7.5 * Double(bars.map(\.title.count).max() ?? 0))
        let (right, row) = (92.0, 30.0)
        let most = max(bars.map(\.value).max() ?? 0, 1e-9)
        var marks = ""
        for (place, bar) in bars.enumerated() {
            let y = Double(place) * row
            let length = max(1.5, bar.value / most * (width - left - right))
            marks += text(bar.title, x: left - 8, y: y + 19, anchor: "end")
            marks +=
                "<rect class=\"\(bar.isDelta ? "delta" : "plain")\" x=\"\(number(left))\" y=\"\(number(y + 5))\" "
                + "width=\"\(number(length))\" height=\"20\" rx=\"2\"/>"
            marks += text(bar.text, x: left + length + 6, y: y + 19, anchor: "start", style: "value")
        }
        return figure(marks, height: Double(bars.count) * row + 4, label: label)
    }

    /// Returns lines over logarithmic axes, with the size without a dictionary as a dashed one.
    static func lines(_ lines: [Line], plainBytes: Int, plainTitle: String, label: String) -> String {
        let (left, right, top, bottom, height) = (58.0, 74.0, 14.0, 36.0, 214.0)
        let places = Set(lines.flatMap { $0.points.map(\.versionsBack) }).sorted()
        let values = lines.flatMap { $0.points.map(\.bytes) } + [plainBytes]
        guard let first = places.first, let last = places.last, let least = values.min(),
            let most = values.max()
        else { return "" }
        let low = floor(log10(Double(max(1, least))))
        let high = max(low + 1, ceil(log10(Double(max(1, most)))))
        func x(_ back: Int) -> Double {
            let share =
                last > first ? log(Double(back) / Double(first)) / log(Double(last) / Double(first)) : 0.5
            return left + share * (width - left - right)
        }
        func y(_ bytes: Int) -> Double {
            top + (high - log10(Double(max(1, bytes)))) / (high - low) * (height - top - bottom)
        }
        var marks = ""
        for power in Int(low)...Int(high) {
            let bytes = Int(pow(10, Double(power)))
            marks += line((left, y(bytes)), (width - right, y(bytes)), style: "grid")
            marks += text(
                EstimateText.size(bytes).replacing(".0 ", with: " "), x: left - 8, y: y(bytes) + 4,
                anchor: "end")
        }
        for back in places {
            marks += text("\(back)", x: x(back), y: height - bottom + 18, anchor: "middle")
        }
        marks += text(
            "versions before", x: (left + width - right) / 2, y: height - 3, anchor: "middle", style: "axis")
        marks += line((left, y(plainBytes)), (width - right, y(plainBytes)), style: "none")
        marks += text(plainTitle, x: width - right + 8, y: y(plainBytes) + 4, anchor: "start")
        var taken: [Double] = [y(plainBytes)]
        for item in lines {
            let path = item.points.map { "\(number(x($0.versionsBack))),\(number(y($0.bytes)))" }
            marks += "<polyline class=\"\(item.coding)\" points=\"\(path.joined(separator: " "))\"/>"
            for point in item.points {
                marks +=
                    "<circle class=\"\(item.coding)\" cx=\"\(number(x(point.versionsBack)))\" "
                    + "cy=\"\(number(y(point.bytes)))\" r=\"3.5\"><title>\(OutputFormat.grouped(point.bytes)) bytes"
                    + "</title></circle>"
            }
            guard let end = item.points.last else { continue }
            // Labels at one height would cover each other.
            var place = y(end.bytes)
            while taken.contains(where: { abs($0 - place) < 14 }) { place += 14 }
            taken.append(place)
            marks += text(
                item.coding, x: width - right + 8, y: place + 4, anchor: "start",
                style: "of-\(item.coding)")
        }
        return figure(marks, height: height, label: label)
    }

    // MARK: Elements

    private static func figure(_ marks: String, height: Double, label: String) -> String {
        "<svg viewBox=\"0 0 \(number(width)) \(number(height))\" role=\"img\" "
            + "aria-label=\"\(EstimatePage.escaped(label))\">\(marks)</svg>"
    }

    private static func text(
        _ text: String, x: Double, y: Double, anchor: String, style: String = "label"
    ) -> String {
        "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">"
            + "\(EstimatePage.escaped(text))</text>"
    }

    private static func line(_ start: (Double, Double), _ end: (Double, Double), style: String) -> String {
        "<line class=\"\(style)\" x1=\"\(number(start.0))\" y1=\"\(number(start.1))\" x2=\"\(number(end.0))\" "
            + "y2=\"\(number(end.1))\"/>"
    }

    private static func number(_ value: Double) -> String { String(format: "%.1f", value) }
}
