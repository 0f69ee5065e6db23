//! The results: raw and in summary, for machines and for people.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::contest::{Contest, Entry, Fault};
use crate::rows::{Rivals, Unit};
use crate::{Harvest, Result, Setup};

/// Writes all files anew, so that nothing is lost if a later row goes wrong.
pub(crate) fn write_all(folder: &Path, setup: &Setup, harvest: &Harvest) -> Result<()> {
    fs::create_dir_all(folder)?;
    let raw = serde_json::to_string_pretty(&raw(setup, harvest))?;
    fs::write(folder.join("raw.json"), raw + "\n")?;
    let summary = serde_json::to_string_pretty(&summary(setup, harvest))?;
    fs::write(folder.join("summary.json"), summary + "\n")?;
    fs::write(folder.join("summary.csv"), csv(harvest)?)?;
    fs::write(folder.join("summary.md"), markdown(setup, harvest)?)?;
    Ok(())
}

/// Copies the tables to `record/MACHINE/DATE.csv` and `.md`; gives the latter.
pub(crate) fn record(folder: &Path, record: &Path, setup: &Setup) -> Result<PathBuf> {
    let to = record.join(setup.machine.slug());
    fs::create_dir_all(&to)?;
    let date = &setup.machine.date;
    fs::copy(folder.join("summary.csv"), to.join(format!("{date}.csv")))?;
    let page = to.join(format!("{date}.md"));
    fs::copy(folder.join("summary.md"), &page)?;
    Ok(page)
}

fn raw(setup: &Setup, harvest: &Harvest) -> Value {
    let run = |entry: &Entry| -> Vec<Value> {
        let costs = entry.costs.iter();
        costs
            .map(|cost| json!({ "wall_s": cost.wall, "cpu_s": cost.cpu, "peak_bytes": cost.peak_bytes }))
            .collect()
    };
    let entry = |entry: &Entry| {
        json!({
            "tool": entry.name,
            "version": entry.version,
            "ours": entry.ours,
            "command": entry.command,
            "runs": run(entry),
            "fault": entry.fault.as_ref().map(fault),
        })
    };
    let rows: Vec<Value> = harvest
        .contests
        .iter()
        .map(|contest| {
            let entries: Vec<Value> = contest.entries.iter().map(entry).collect();
            json!({
                "row": contest.row.name,
                "work": contest.row.title(),
                "bytes": contest.bytes,
                "files": contest.files,
                "entries": entries,
            })
        })
        .collect();
    let buffers: Vec<Value> = harvest
        .buffers
        .iter()
        .map(|speed| {
            json!({
                "buffer_kib": speed.buffer_kib,
                "algorithm": speed.algorithm.map(|algorithm| algorithm.to_string()),
                "bytes_a_second": speed.bytes_a_second,
            })
        })
        .collect();
    json!({
        "about": about(setup, harvest),
        "rows": rows,
        "buffers": buffers,
    })
}

fn about(setup: &Setup, harvest: &Harvest) -> Value {
    let machine = &setup.machine;
    let tools: Vec<Value> = setup
        .tools
        .iter()
        .map(|tool| json!({ "tool": tool.name, "version": tool.version }))
        .collect();
    json!({
        "multisum": machine.multisum,
        "processor": machine.processor,
        "cores": machine.cores,
        "features": machine.features,
        "memory_gib": machine.memory_gib,
        "system": machine.system,
        "date": machine.date,
        "load_before": machine.load,
        "load_after": harvest.load_after,
        "least_peak_bytes": harvest.floor_bytes,
        "tools": tools,
        "missing": setup.missing,
        "skipped": harvest.skipped,
    })
}

fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Failed(why) => format!("failed: {why}"),
        Fault::Disagrees(why) => format!("disagrees: {why}"),
    }
}

fn summary(setup: &Setup, harvest: &Harvest) -> Value {
    let figures = |contest: &Contest, entry: &Entry| {
        let (least, most) = entry.range();
        json!({
            "tool": entry.name,
            "version": entry.version,
            "wall_s": entry.wall(),
            "wall_least_s": least,
            "wall_most_s": most,
            "bytes_a_second": contest.bytes as f64 / entry.wall(),
            "files_a_second": contest.files as f64 / entry.wall(),
            "cpu_percent": entry.cpu_percent(),
            "peak_bytes": entry.peak_bytes(),
        })
    };
    let rows: Vec<Value> = harvest
        .contests
        .iter()
        .map(|contest| {
            json!({
                "row": contest.row.name,
                "work": contest.row.title(),
                "best_peer": contest.best_peer().map(|entry| figures(contest, entry)),
                "multisum": contest.ours().map(|entry| figures(contest, entry)),
                "ratio": contest.ratio(),
            })
        })
        .collect();
    json!({ "about": about(setup, harvest), "rows": rows })
}

fn csv(harvest: &Harvest) -> Result<String> {
    let mut text = String::from(
        "row,work,bytes,files,tool,version,runs,wall_median_s,wall_least_s,wall_most_s,\
         bytes_a_second,files_a_second,cpu_percent,peak_bytes,speed_against_best_peer,fault,command\n",
    );
    for contest in &harvest.contests {
        let best = contest.best_peer().map(Entry::wall);
        for entry in &contest.entries {
            let (least, most) = entry.range();
            let wall = entry.wall();
            let has = entry.stands();
            let number = |value: f64, digits| has.then(|| format!("{value:.digits$}"));
            let against = best.and_then(|best| number(best / wall, 3));
            let cells = [
                Some(contest.row.name.to_owned()),
                Some(contest.row.title()),
                Some(contest.bytes.to_string()),
                Some(contest.files.to_string()),
                Some(entry.name.clone()),
                Some(entry.version.clone()),
                Some(entry.costs.len().to_string()),
                number(wall, 6),
                number(least, 6),
                number(most, 6),
                number(contest.bytes as f64 / wall, 0),
                number(contest.files as f64 / wall, 0),
                entry
                    .cpu_percent()
                    .filter(|_| has)
                    .map(|p| format!("{p:.0}")),
                entry.peak_bytes().map(|bytes| bytes.to_string()),
                against,
                entry.fault.as_ref().map(fault),
                Some(entry.command.clone()),
            ];
            let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell.as_deref())).collect();
            writeln!(text, "{}", cells.join(","))?;
        }
    }
    Ok(text)
}

fn csv_cell(cell: Option<&str>) -> String {
    let cell = cell.unwrap_or_default();
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn markdown(setup: &Setup, harvest: &Harvest) -> Result<String> {
    let mut text = String::from("# multisum against its peers\n\n");
    writeln!(text, "{}\n", setup.machine.prose())?;
    if setup.machine.is_busy() {
        text.push_str("**The machine had other work to do: these figures are of no use.**\n\n");
    }
    text.push_str(
        "Whole processes; medians of all runs, the tools in turns, after a warm-up; every digest was \
         compared. A ratio is the time of the fastest peer divided by that of multisum. Each tool has \
         the fastest of several commands, which the last table tells. GB are decimal.\n\n",
    );
    write_tools(&mut text, setup)?;
    let (main, modes): (Vec<&Contest>, Vec<&Contest>) = harvest
        .contests
        .iter()
        .partition(|contest| contest.row.rivals != Rivals::Mapped);
    write_ratios(&mut text, "best peer", &main, harvest)?;
    if !modes.is_empty() {
        text.push_str("\n## Files read against files mapped\n\n");
        write_ratios(&mut text, "mapped", &modes, harvest)?;
    }
    write_buffers(&mut text, harvest)?;
    write_skipped(&mut text, harvest)?;
    write_details(&mut text, harvest)?;
    Ok(text)
}

/// The main table alone.
pub(crate) fn ratios(harvest: &Harvest) -> Result<String> {
    let mut text = String::new();
    let rows: Vec<&Contest> = harvest.contests.iter().collect();
    write_ratios(&mut text, "best peer", &rows, harvest)?;
    Ok(text)
}

/// The result of a row in one line.
pub(crate) fn line(contest: &Contest) -> String {
    let (ours, peer) = (shown(contest, contest.ours()), peer(contest));
    format!("  multisum {ours}, {peer}, {}", ratio(contest))
}

fn shown(contest: &Contest, entry: Option<&Entry>) -> String {
    entry.map_or_else(|| "-".to_owned(), |entry| figure(contest, entry))
}

fn peer(contest: &Contest) -> String {
    contest.best_peer().map_or_else(
        || "-".to_owned(),
        |entry| format!("{} {}", entry.name, figure(contest, entry)),
    )
}

fn ratio(contest: &Contest) -> String {
    let ratio = contest.ratio();
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x"))
}

fn write_tools(text: &mut String, setup: &Setup) -> Result<()> {
    let tools: Vec<String> = setup
        .tools
        .iter()
        .map(|tool| format!("{} {}", tool.name, tool.version))
        .collect();
    writeln!(text, "Peers: {}.", tools.join("; "))?;
    if !setup.missing.is_empty() {
        writeln!(text, "Not installed: {}.", setup.missing.join(", "))?;
    }
    writeln!(text)?;
    Ok(())
}

fn write_ratios(text: &mut String, peer: &str, rows: &[&Contest], harvest: &Harvest) -> Result<()> {
    writeln!(
        text,
        "| work | {peer} | multisum | ratio |\n|---|---|---|---|"
    )?;
    for contest in rows {
        let (title, peer) = (contest.row.title(), self::peer(contest));
        let (ours, ratio) = (shown(contest, contest.ours()), ratio(contest));
        writeln!(text, "| {title} | {peer} | {ours} | {ratio} |")?;
    }
    if peer == "best peer"
        && let Some(row) = memory(rows, harvest)
    {
        writeln!(text, "{row}")?;
    }
    Ok(())
}

fn figure(contest: &Contest, entry: &Entry) -> String {
    let wall = entry.wall();
    match contest.row.unit {
        Unit::Rate => format!("{:.2} GB/s", contest.bytes as f64 / wall / 1e9),
        Unit::Seconds => format!("{wall:.3} s"),
        Unit::Milliseconds => format!("{:.2} ms", wall * 1e3),
    }
}

/// The row in which multisum took most memory, and the least that a peer took there.
fn memory(rows: &[&Contest], harvest: &Harvest) -> Option<String> {
    let peak = |contest: &&&Contest| contest.ours().and_then(Entry::peak_bytes);
    let rows = rows.iter();
    let contest = rows
        .filter(|contest| contest.row.rivals == Rivals::Everybody)
        .max_by_key(peak)?;
    let peers = contest
        .entries
        .iter()
        .filter(|entry| !entry.ours && entry.stands());
    let peer = peers.min_by_key(|entry| entry.peak_bytes())?;
    let (ours, theirs) = (peak(&contest)?, peer.peak_bytes()?);
    let floor = harvest.floor_bytes.map_or_else(String::new, |floor| {
        format!("; {} is the least that can be measured", mib(floor))
    });
    Some(format!(
        "| memory at its peak, the most of all rows ({}{floor}) | {} {} | {} | {:.2}x |",
        contest.row.name,
        peer.name,
        mib(theirs),
        mib(ours),
        theirs as f64 / ours as f64
    ))
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

fn write_buffers(text: &mut String, harvest: &Harvest) -> Result<()> {
    if harvest.buffers.is_empty() {
        return Ok(());
    }
    text.push_str(
        "\n## Sizes of buffers\n\nGB/s of a loop of plain reads in this benchmark itself, one thread, one \
         stream, file in the page cache. multisum has no option for the size.\n\n",
    );
    let mut sizes: Vec<usize> = harvest
        .buffers
        .iter()
        .map(|speed| speed.buffer_kib)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let titles: Vec<String> = sizes.iter().map(|size| format!("{size} KiB")).collect();
    writeln!(
        text,
        "| | {} |\n|---|{}",
        titles.join(" | "),
        "---|".repeat(sizes.len())
    )?;
    for row in harvest.buffers.chunks(sizes.len()) {
        let title = match row[0].algorithm {
            None => "reading alone".to_owned(),
            Some(algorithm) => format!("with {algorithm}"),
        };
        let cells: Vec<String> = row
            .iter()
            .map(|speed| format!("{:.2}", speed.median() / 1e9))
            .collect();
        writeln!(text, "| {title} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn write_skipped(text: &mut String, harvest: &Harvest) -> Result<()> {
    if harvest.skipped.is_empty() {
        return Ok(());
    }
    text.push_str("\n## Rows that were left out\n\n");
    for (row, why) in &harvest.skipped {
        writeln!(text, "- {row}: {why}")?;
    }
    Ok(())
}

fn write_details(text: &mut String, harvest: &Harvest) -> Result<()> {
    text.push_str(
        "\n## Every tool\n\nTime is the median (least to most); CPU is a percentage of one core; memory is the \
         peak of the largest process.\n\n\
         | row | tool | runs | time | GB/s | files/s | CPU | memory | against best peer | command |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for contest in &harvest.contests {
        for entry in &contest.entries {
            writeln!(
                text,
                "| {} | {} |",
                contest.row.name,
                details(contest, entry)
            )?;
        }
    }
    Ok(())
}

fn details(contest: &Contest, entry: &Entry) -> String {
    let command = shortened(&entry.command);
    if let Some(why) = &entry.fault {
        let why = fault(why).replace('|', "\\|");
        return format!("{} | 0 | {why} | | | | | | {command}", entry.name);
    }
    let (wall, (least, most)) = (entry.wall(), entry.range());
    let best = contest.best_peer().map_or(f64::NAN, Entry::wall);
    format!(
        "{} | {} | {wall:.4} s ({least:.4} to {most:.4}) | {:.2} | {:.0} | {} | {} | {:.2}x | {command}",
        entry.name,
        entry.costs.len(),
        contest.bytes as f64 / wall / 1e9,
        contest.files as f64 / wall,
        entry
            .cpu_percent()
            .map_or_else(String::new, |percent| format!("{percent:.0} %")),
        entry.peak_bytes().map_or_else(String::new, mib),
        best / wall,
    )
}

/// The command for a cell: programs without their folders, scripts cut short.
fn shortened(command: &str) -> String {
    let words = command
        .split_whitespace()
        .map(|word| match word.rfind('/') {
            Some(slash) if word.starts_with('/') && slash + 1 < word.len() => &word[slash + 1..],
            _ => word,
        });
    let text = words.collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let short: String = text.chars().take(160).collect();
    let dots = if short.len() < text.len() { "…" } else { "" };
    format!("`{}{dots}`", short.replace('`', "'"))
}
