/// A day of the Gregorian calendar with its number since 1970-01-01.
struct CivilDate {
    let year: Int
    let month: Int
    let day: Int
    let daysSinceEpoch: Int64

    /// The day of the week, 0 for Sunday.
    var weekday: Int { Int((daysSinceEpoch % 7 + 11) % 7) }

    // Years begin in March, so that the leap day is the last of its year. An era is 400 years, always 146,097
    // days. 0000-03-01 is 719,468 days before the epoch.

    /// Makes the day with this number.
    init(daysSinceEpoch: Int64) {
        self.daysSinceEpoch = daysSinceEpoch
        let shifted = daysSinceEpoch + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
        month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    /// Makes the day with this date; nil if there is none.
    init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let fromMarch = Int64(month > 2 ? year : year - 1)
        let era = floorDivide(fromMarch, 400)
        let yearOfEra = fromMarch - era * 400
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.init(daysSinceEpoch: era * 146_097 + dayOfEra - 719_468)
        // A day that the month does not have results in another date.
        guard self.year == year, self.month == month, self.day == day else { return nil }
    }
}
