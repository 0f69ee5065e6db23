//! `--slice`, as it is typed and as schedulers of array jobs say it.

use std::env;
use std::num::ParseIntError;

use crate::slice::{Slice, SliceError};

const AUTO: &str = "auto";

/// Why `--slice` names no slice.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoSlice {
    #[error(transparent)]
    Slice(#[from] SliceError),
    #[error("a slice is I/N from 1, ZI/N from 0, or auto: {0}")]
    Number(#[from] ParseIntError),
    #[error(
        "auto finds no array job: SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX and \
         JOB_COMPLETION_INDEX are not set"
    )]
    NoArray,
    #[error("{variable} is {value:?}, which is no number")]
    Variable {
        variable: &'static str,
        value: String,
    },
    #[error("{0} does not say how many tasks there are; write auto/N")]
    NoCount(&'static str),
    #[error(
        "the array's tasks are not numbered without gaps, so that auto cannot tell which of how \
         many this is; write auto/N with tasks 1 to N"
    )]
    Gaps,
}

/// Reads `I/N` (from 1), `ZI/N` (from 0), `auto`, or `auto/N` where the environment does not say how
/// many tasks there are.
pub(super) fn parse(text: &str) -> Result<Slice, NoSlice> {
    parse_with(text, |variable| env::var(variable).ok())
}

fn parse_with(
    text: &str,
    variable: impl Fn(&'static str) -> Option<String>,
) -> Result<Slice, NoSlice> {
    if text == AUTO {
        return from_array(&Environment(variable), None);
    }
    match text.split_once('/') {
        Some((AUTO, count)) => from_array(&Environment(variable), Some(count.parse()?)),
        Some((index, count)) if index.starts_with(['Z', 'z']) => {
            from_zero(index[1..].parse()?, count.parse()?)
        }
        _ => Ok(text.parse()?),
    }
}

fn from_zero(index: u32, count: u32) -> Result<Slice, NoSlice> {
    let beyond = || SliceError::Beyond { index, count };
    let index = index.checked_add(1).ok_or_else(beyond)?;
    Ok(Slice::new(index, count)?)
}

struct Environment<V>(V);

impl<V: Fn(&'static str) -> Option<String>> Environment<V> {
    fn number(&self, variable: &'static str) -> Result<Option<u32>, NoSlice> {
        let Some(value) = (self.0)(variable) else {
            return Ok(None);
        };
        let number = value.trim().parse();
        number
            .map(Some)
            .map_err(|_| NoSlice::Variable { variable, value })
    }

    fn required(&self, variable: &'static str) -> Result<u32, NoSlice> {
        self.number(variable)?.ok_or(NoSlice::NoCount(variable))
    }
}

/// The task that this is of an array job of Slurm, AWS Batch or Kubernetes.
fn from_array<V: Fn(&'static str) -> Option<String>>(
    environment: &Environment<V>,
    count: Option<u32>,
) -> Result<Slice, NoSlice> {
    if let Some(id) = environment.number("SLURM_ARRAY_TASK_ID")? {
        return match count {
            Some(count) => Ok(Slice::new(id, count)?),
            None => from_slurm(id, environment),
        };
    }
    if let Some(index) = environment.number("AWS_BATCH_JOB_ARRAY_INDEX")? {
        let said = || environment.required("AWS_BATCH_JOB_ARRAY_SIZE");
        return from_zero(index, count.map_or_else(said, Ok)?);
    }
    match environment.number("JOB_COMPLETION_INDEX")? {
        Some(index) => {
            let count = count.ok_or(NoSlice::NoCount("JOB_COMPLETION_INDEX"))?;
            from_zero(index, count)
        }
        None => Err(NoSlice::NoArray),
    }
}

/// An array may begin anywhere and have a step, but it must have no gaps: a rerun of some tasks alone
/// has other counts than the whole, and must not be taken for it.
fn from_slurm<V: Fn(&'static str) -> Option<String>>(
    id: u32,
    environment: &Environment<V>,
) -> Result<Slice, NoSlice> {
    let count = environment.required("SLURM_ARRAY_TASK_COUNT")?;
    let first = environment.required("SLURM_ARRAY_TASK_MIN")?;
    let last = environment.required("SLURM_ARRAY_TASK_MAX")?;
    let step = environment
        .number("SLURM_ARRAY_TASK_STEP")?
        .unwrap_or(1)
        .max(1);
    let place = |id: u32| {
        let distance = id.checked_sub(first)?;
        (distance % step == 0).then_some(distance / step)
    };
    match (place(id), place(last)) {
        (Some(index), Some(most)) if most.checked_add(1) == Some(count) => from_zero(index, count),
        _ => Err(NoSlice::Gaps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, environment: &[(&str, &str)]) -> Result<String, NoSlice> {
        let variable = |wanted: &'static str| {
            let found = environment.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        };
        parse_with(text, variable).map(|slice| slice.to_string())
    }

    #[test]
    fn slices_count_from_one_or_with_a_z_from_zero() {
        assert_eq!(parsed("3/7", &[]).unwrap(), "3/7");
        assert_eq!(parsed("Z0/7", &[]).unwrap(), "1/7");
        assert_eq!(parsed("z6/7", &[]).unwrap(), "7/7");
        for bad in [
            "0/7",
            "Z7/7",
            "8/7",
            "Z/7",
            "/7",
            "3",
            "x/7",
            "Z4294967295/7",
            "",
        ] {
            assert!(parsed(bad, &[]).is_err(), "{bad}");
        }
    }

    #[test]
    fn auto_takes_what_the_scheduler_says() {
        let slurm = |id, count, first, last| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", count),
                ("SLURM_ARRAY_TASK_MIN", first),
                ("SLURM_ARRAY_TASK_MAX", last),
            ]
        };
        assert_eq!(parsed("auto", &slurm("3", "7", "1", "7")).unwrap(), "3/7");
        assert_eq!(parsed("auto", &slurm("0", "4", "0", "3")).unwrap(), "1/4");
        let mut stepped = slurm("5", "3", "1", "5").to_vec();
        stepped.push(("SLURM_ARRAY_TASK_STEP", "2"));
        assert_eq!(parsed("auto", &stepped).unwrap(), "3/3");
        let batch = [
            ("AWS_BATCH_JOB_ARRAY_INDEX", "0"),
            ("AWS_BATCH_JOB_ARRAY_SIZE", "16"),
        ];
        assert_eq!(parsed("auto", &batch).unwrap(), "1/16");
        let kubernetes = [("JOB_COMPLETION_INDEX", "4")];
        assert_eq!(parsed("auto/5", &kubernetes).unwrap(), "5/5");
    }

    #[test]
    fn what_the_scheduler_does_not_say_is_never_guessed() {
        assert_eq!(parsed("auto", &[]), Err(NoSlice::NoArray));
        let kubernetes = [("JOB_COMPLETION_INDEX", "4")];
        let no_count = Err(NoSlice::NoCount("JOB_COMPLETION_INDEX"));
        assert_eq!(parsed("auto", &kubernetes), no_count);
        let some_tasks = [
            ("SLURM_ARRAY_TASK_ID", "3"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_TASK_MIN", "3"),
            ("SLURM_ARRAY_TASK_MAX", "6"),
        ];
        assert_eq!(parsed("auto", &some_tasks), Err(NoSlice::Gaps));
        assert_eq!(parsed("auto/7", &some_tasks).unwrap(), "3/7");
        let odd = [("AWS_BATCH_JOB_ARRAY_INDEX", "one")];
        assert!(matches!(
            parsed("auto", &odd),
            Err(NoSlice::Variable { .. })
        ));
    }
}
