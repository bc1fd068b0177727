//! How attributes select configs, in EGL and GLX alike (EGL 1.5 table 3.4, GLX 1.4 table 3.4).

/// What a wanted value means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Criterion {
    /// This much, or more.
    AtLeast,
    /// This value alone.
    Exact,
    /// All these bits.
    Mask,
    /// Nothing.
    Ignored,
}

/// The value that matches everything: `EGL_DONT_CARE`, `GLX_DONT_CARE`.
pub(crate) const DONT_CARE: i32 = -1;

impl Criterion {
    /// Whether a config with this value of an attribute fits; one that does not have the attribute fits where anything does.
    pub(crate) fn fits(self, value: Option<i32>, wanted: i32) -> bool {
        if self == Criterion::Ignored || wanted == DONT_CARE {
            return true;
        }
        value.is_some_and(|value| match self {
            Criterion::AtLeast => value >= wanted,
            Criterion::Exact => value == wanted,
            Criterion::Mask => value & wanted == wanted,
            Criterion::Ignored => true,
        })
    }
}

/// The wanted value of an attribute, by a table of names, criteria and values.
pub(crate) fn wanted(table: &[(i32, Criterion, i32)], name: i32) -> i32 {
    table.iter().find(|(n, ..)| *n == name).map_or(DONT_CARE, |row| row.2)
}

/// Those of some attributes that were asked for: neither zero nor anything.
pub(crate) fn asked(table: &[(i32, Criterion, i32)], names: &[i32]) -> Vec<i32> {
    names.iter().copied().filter(|&name| !matches!(wanted(table, name), 0 | DONT_CARE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_criterion_means_something_else() {
        for (criterion, wanted, fitting, others) in [
            (Criterion::AtLeast, 8, [8, 16], [0, 7]),
            (Criterion::Exact, 8, [8, 8], [7, 9]),
            (Criterion::Mask, 5, [5, 7], [4, 2]),
        ] {
            assert!(fitting.iter().all(|&value| criterion.fits(Some(value), wanted)), "{criterion:?}");
            assert!(!others.iter().any(|&value| criterion.fits(Some(value), wanted)), "{criterion:?}");
            assert!(criterion.fits(Some(0), DONT_CARE) && !criterion.fits(None, wanted));
        }
        assert!(Criterion::Ignored.fits(None, 3));
    }
}
