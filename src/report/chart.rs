//! Bar charts in plain text.

use std::io::{self, Write};

use super::columns::{padded, padded_left, width};

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the bar stands for.
    pub label: String,
    /// Its length, in any unit; what is not finite or not positive is drawn as nothing.
    pub value: f64,
    /// The value in words.
    pub note: String,
}

/// What bars are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// Unicode blocks, to an eighth of a column.
    #[default]
    Blocks,
    /// Number signs, to a column.
    Ascii,
}

/// Columns that bars get however little room the table leaves.
const LEAST_BAR_COLUMNS: usize = 8;

/// Writes a table of labels, notes and bars; the largest value fills the line up to `columns`.
///
/// # Examples
///
/// ```
/// use multisum::report::chart::{self, Glyphs, Row};
/// let row = |label: &str, value, note: &str| Row { label: label.into(), value, note: note.into() };
/// let rows = [row("md5", 0.7, "700 MB/s"), row("blake3", 4.2, "4.20 GB/s")];
/// let mut text = Vec::new();
/// chart::write(&mut text, &rows, 31, Glyphs::Ascii)?;
/// assert_eq!(
///     String::from_utf8(text).unwrap(),
///     "md5      700 MB/s  ##\nblake3  4.20 GB/s  ############\n"
/// );
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(out: &mut impl Write, rows: &[Row], columns: usize, glyphs: Glyphs) -> io::Result<()> {
    let widest = |text: fn(&Row) -> &str| rows.iter().map(|row| width(text(row))).max();
    let labels = widest(|row| &row.label).unwrap_or(0);
    let notes = widest(|row| &row.note).unwrap_or(0);
    let room = columns
        .saturating_sub(labels + notes + 4)
        .max(LEAST_BAR_COLUMNS);
    let largest = rows
        .iter()
        .map(|row| drawable(row.value))
        .fold(0.0, f64::max);
    for row in rows {
        let label = padded(&row.label, labels);
        let note = padded_left(&row.note, notes);
        let bar = bar(share(row.value, largest), room, glyphs);
        writeln!(out, "{}", format!("{label}  {note}  {bar}").trim_end())?;
    }
    Ok(())
}

fn drawable(value: f64) -> f64 {
    if value.is_finite() {
        value.max(0.0)
    } else {
        0.0
    }
}

fn share(value: f64, largest: f64) -> f64 {
    if largest > 0.0 {
        drawable(value) / largest
    } else {
        0.0
    }
}

/// A bar of `share` (0 to 1) of `columns`; more than nothing is never drawn as nothing.
fn bar(share: f64, columns: usize, glyphs: Glyphs) -> String {
    let steps = match glyphs {
        Glyphs::Blocks => 8,
        Glyphs::Ascii => 1,
    };
    let exact = share * (columns * steps) as f64;
    let rounded = if share > 0.0 {
        exact.round().max(1.0)
    } else {
        0.0
    };
    let (full, eighths) = (rounded as usize / steps, rounded as usize % steps);
    match glyphs {
        Glyphs::Ascii => "#".repeat(full),
        Glyphs::Blocks => "█".repeat(full) + EIGHTHS[eighths],
    }
}

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(rows: &[(&str, f64, &str)], columns: usize, glyphs: Glyphs) -> String {
        let rows: Vec<Row> = rows
            .iter()
            .map(|(label, value, note)| Row {
                label: (*label).to_owned(),
                value: *value,
                note: (*note).to_owned(),
            })
            .collect();
        let mut out = Vec::new();
        write(&mut out, &rows, columns, glyphs).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_largest_value_fills_the_line_and_the_others_are_in_proportion() {
        let rows = [
            ("md5", 1.0, "1"),
            ("blake3", 16.0, "16"),
            ("日本", 9.0, "9"),
        ];
        assert_eq!(
            chart(&rows, 20, Glyphs::Blocks),
            "md5      1  ▌\nblake3  16  ████████\n日本     9  ████▌\n"
        );
        assert_eq!(
            chart(&rows, 20, Glyphs::Ascii),
            "md5      1  #\nblake3  16  ########\n日本     9  #####\n"
        );
    }

    #[test]
    fn little_is_not_nothing_and_nonsense_is() {
        let rows = [
            ("a", 1e-9, ""),
            ("b", f64::NAN, ""),
            ("c", f64::INFINITY, ""),
            ("d", -1.0, ""),
            ("e", 0.0, ""),
            ("f", 1.0, ""),
        ];
        assert_eq!(
            chart(&rows, 0, Glyphs::Blocks),
            "a    ▏\nb\nc\nd\ne\nf    ████████\n"
        );
    }

    #[test]
    fn a_chart_of_nothing_is_empty_and_zeros_have_no_bars() {
        assert_eq!(chart(&[], 80, Glyphs::Blocks), "");
        assert_eq!(chart(&[("a", 0.0, "0")], 80, Glyphs::Blocks), "a  0\n");
    }
}
