//! `multisum hash --slice`: disjoint parts that together are everything.

use std::collections::BTreeSet;

use crate::harness::Tree;

fn tree_of(files: usize) -> Tree {
    let tree = Tree::new();
    for number in 0..files {
        tree.file(format!("t/{}/{number}", number % 5), number.to_string());
    }
    tree
}

fn lines(output: &[u8]) -> Vec<String> {
    let text = String::from_utf8(output.to_vec()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn every_file_is_in_one_slice_and_slices_know_what_they_are() {
    let tree = tree_of(60);
    tree.cmd(["hash", "-q", "-o", "all.sha256", "t"])
        .run()
        .check();
    let mut seen = BTreeSet::new();
    for index in 1..=4 {
        let slice = format!("{index}/4");
        let (text, native) = (format!("{index}.sha256"), format!("{index}.jsonl"));
        let args = [
            "hash", "-q", "--slice", &slice, "-o", &text, "-o", &native, "t",
        ];
        tree.cmd(args).run().check();
        for line in lines(&tree.read(&text)) {
            assert!(seen.insert(line.clone()), "{line} is in two slices");
        }
        let header = lines(&tree.read(&native)).remove(0);
        assert!(
            header.contains(&format!("\"slice\":\"{slice}\"")),
            "{header}"
        );
    }
    let all: BTreeSet<String> = lines(&tree.read("all.sha256")).into_iter().collect();
    assert_eq!(seen, all);
}

#[test]
fn a_folder_that_cannot_be_read_is_told_by_every_slice() {
    let tree = tree_of(10);
    tree.dir("t/closed").mode("t/closed", 0);
    for index in 1..=3 {
        let slice = format!("{index}/3");
        let Some(cmd) = tree.cmd(["hash", "--slice", &slice, "t"]).unprivileged() else {
            return;
        };
        let told = "unreadable  t/closed";
        cmd.run().stdout_any().stderr_has(told).code(2).check();
    }
}

#[test]
fn an_array_job_says_which_slice_it_is() {
    let tree = tree_of(20);
    let by_number = tree.cmd(["hash", "-q", "-o", "2.sha256", "--slice", "2/3", "t"]);
    by_number.run().check();
    let second = tree.read("2.sha256");
    let from_zero = tree.cmd(["hash", "-q", "--slice", "Z1/3", "t"]);
    from_zero.run().stdout(&second).check();
    let slurm = tree
        .cmd(["hash", "-q", "--slice", "auto", "t"])
        .env("SLURM_ARRAY_TASK_ID", "12")
        .env("SLURM_ARRAY_TASK_MIN", "11")
        .env("SLURM_ARRAY_TASK_MAX", "13")
        .env("SLURM_ARRAY_TASK_COUNT", "3");
    slurm.run().stdout(&second).check();
    let kubernetes = tree
        .cmd(["hash", "-q", "--slice", "auto/3", "t"])
        .env("JOB_COMPLETION_INDEX", "1");
    kubernetes.run().stdout(&second).check();
    let nothing = tree.cmd(["hash", "--slice", "auto", "t"]).run();
    nothing
        .stderr_has("auto finds no array job")
        .code(2)
        .check();
    for bad in ["0/3", "4/3", "3", "x/3"] {
        let refused = tree.cmd(["hash", "--slice", bad, "t"]).run();
        refused.stderr_has("slice").code(2).check();
    }
}
