//! The help, and what is made from it: every example can be done, pages and completions are current.

use std::fs;

use crate::common::tool;
use crate::harness::Tree;

/// Every command of `multisum --help`.
fn commands() -> Vec<String> {
    let output = Tree::new().cmd(["--help"]).run();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let from = text.find("Commands:\n").unwrap();
    let rows = text[from..]
        .lines()
        .skip(1)
        .take_while(|row| !row.is_empty());
    let names = rows.map(|row| row.split_whitespace().next().unwrap().to_owned());
    names.collect()
}

fn help(command: &str, option: &str) -> String {
    let tree = Tree::new();
    let output = tree.cmd([command, option]).env("COLUMNS", "100").run();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    output.stdout_any().check();
    text
}

/// The typed part of each example; a description stands behind it, or alone in the next line.
fn examples(command: &str) -> Vec<String> {
    let text = help(command, "--help");
    let place = text.find("Examples:\n");
    let place = place.unwrap_or_else(|| panic!("{command} has no examples"));
    let rows = text[place..].lines().skip(1);
    let rows = rows.take_while(|row| row.starts_with("  "));
    let typed = rows.filter(|row| !row.starts_with("    "));
    let typed = typed.map(|row| row.trim_start().split("   ").next().unwrap().to_owned());
    typed.collect()
}

/// What the examples of a command speak of.
fn prepared(command: &str) -> Tree {
    let tree = Tree::new();
    for (name, content) in [("photos/a.jpg", "a"), ("photos/b/c.jpg", "c"), ("x", "x")] {
        tree.file(name, content);
        tree.file(name.replace("photos", "mnt/copy"), content);
    }
    tree.file("letters/1.txt", "Dear");
    tree.file("srv/x", "x");
    tree.file("last", "");
    let script = match command {
        "hash" => "rm -r mnt",
        "verify" => {
            "$M hash -o SHA256SUMS x && cp x mnt/copy && $M hash -o photos/SHA256SUMS photos &&
             $M hash -o photos.jsonl photos && $M hash --bag letters"
        }
        "diff" => {
            "$M hash -o 2025.jsonl photos && mv photos/a.jpg photos/d.jpg &&
             $M hash -o 2026.jsonl photos && $M hash -o photos.jsonl photos && $M hash x > old &&
             $M hash last > new"
        }
        "update" => {
            "$M hash -o photos/tree.jsonl photos && $M hash -o SHA256SUMS x &&
             $M hash -f gnu -C srv . > a.sha256 && $M hash -o tree.jsonl photos"
        }
        "convert" => {
            "$M hash -o SHA256SUMS x && $M hash -a md5,sha256 -o tree.jsonl photos &&
             $M hash -o tree.hashdeep photos"
        }
        "merge" => {
            "for i in 1 2; do $M hash --slice $i/2 -C photos -o part-$i.jsonl .; done &&
             $M hash x > a.sha256 && $M hash last > b.sha256"
        }
        _ => ":",
    };
    let output = tree.shell(&format!("exec >&2; {script}")).run();
    output.stderr_any().check();
    tree
}

/// Places that a test has no business in, and what no test has the time for.
fn at_home(example: &str) -> String {
    let script = example
        .replace("/mnt/", "mnt/")
        .replace("/srv", "srv")
        // Of so few files a thirtieth is none.
        .replace("3/30", "1/1")
        .replace("~/", "./")
        .replace("$PROFILE", "profile");
    match script.strip_prefix("multisum bench") {
        Some(options) => format!("multisum bench --time 0.01{options}"),
        None => script,
    }
}

#[test]
fn every_example_of_the_help_can_be_done() {
    let folders = "mkdir -p .config/fish/completions .local/share/zsh/site-functions \
                   .local/share/bash-completion/completions";
    let has_jq = tool("jq").is_some();
    let mut faults = Vec::new();
    for command in commands() {
        for example in examples(&command) {
            if example.contains("| jq") && !has_jq {
                continue;
            }
            let tree = prepared(&command);
            let script = at_home(&example);
            let script = format!("multisum() {{ $M \"$@\"; }}; {folders}; set -e; {script}");
            let output = tree.shell(&script).run();
            if !matches!(output.code, Some(0 | 1)) {
                faults.push(format!("{example}\n{output}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_short_help_has_one_line_for_each_option() {
    for command in commands() {
        let text = help(&command, "-h");
        for line in text.lines() {
            let begins = line.trim_start().starts_with(['-', '[', '<']);
            assert!(
                begins || !line.starts_with("   "),
                "{command}: {line}\n{text}"
            );
        }
        assert!(!text.contains("Examples:"), "{text}");
        assert!(text.len() < help(&command, "--help").len(), "{text}");
    }
}

#[test]
fn every_command_has_a_manual_page_that_man_can_show() {
    let tree = Tree::new();
    tree.cmd(["man", "pages/man1"]).run().check();
    let mut pages: Vec<String> = fs::read_dir(tree.path("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let of_command = |command: String| format!("multisum-{command}.1");
    let mut expected: Vec<String> = commands().into_iter().map(of_command).collect();
    expected.push("multisum.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    if tool("man").is_none() {
        return;
    }
    for page in pages {
        let script = format!("MANWIDTH=100 man --warnings -l pages/man1/{page}");
        let output = tree.shell(&script).run();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            text.contains("SYNOPSIS") && text.contains("\n       multisum"),
            "{page}\n{text}"
        );
        output.stdout_any().check();
    }
}

#[test]
fn every_shell_understands_its_completions() {
    let tree = Tree::new();
    for (shell, check) in [
        (
            "bash",
            "bash -n multisum.bash && bash -c '. ./multisum.bash; complete -p multisum'",
        ),
        ("zsh", "zsh -n multisum.zsh"),
        ("fish", "fish --no-execute multisum.fish"),
        // No distribution packages this one, so what it would say is not asked.
        ("powershell", ""),
    ] {
        let output = tree.cmd(["completions", shell]).run();
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        for word in ["verify", "require-signature", "one-file-system"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
        tree.file(format!("multisum.{shell}"), text);
        if !check.is_empty() && tool(shell).is_some() {
            tree.shell(check).run().stdout_any().check();
        }
    }
}
