//! Convergence of ranks: the rules by which iterations end, and the reason that they ended.

use outcore_ingest::Choice;

/// The rule by which iterations converge. The residual is the sum over all vertices of the absolute change in the last
/// iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The residual is below the tolerance, so that ranks are as exact on large graphs as on small ones.
    #[default]
    Residual,
    /// The residual is below the tolerance times the number of vertices, as in NetworkX: the larger the graph, the less
    /// exact the ranks.
    Networkx,
}

impl Choice for Stop {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Stop::Residual, "residual", "The sum of absolute changes is below the tolerance"),
        (
            Stop::Networkx,
            "networkx",
            "It is below the tolerance times the number of vertices, as in NetworkX, which is loose for large graphs",
        ),
    ];
}

outcore_declare::from_names!(Stop);

impl Stop {
    /// The residual below which ranks have converged.
    pub fn threshold(self, tol: f64, vertices: u64) -> f64 {
        match self {
            Stop::Residual => tol,
            Stop::Networkx => tol * vertices as f64,
        }
    }

    /// The reason why iterations ended with this residual.
    pub fn outcome(self, tol: f64, vertices: u64, residual: f64) -> StoppedBy {
        match self {
            _ if vertices > 0 && (residual.is_nan() || residual >= self.threshold(tol, vertices)) => {
                StoppedBy::Iterations
            }
            Stop::Residual => StoppedBy::Residual,
            Stop::Networkx => StoppedBy::Networkx,
        }
    }
}

/// The reason why iterations ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoppedBy {
    /// The residual fell below the tolerance.
    Residual,
    /// The residual fell below the tolerance times the number of vertices.
    Networkx,
    /// All allowed iterations were made. The ranks have not converged.
    Iterations,
    /// Pushed ranks come no nearer: their residual is no greater than the error of rounding. They have not converged.
    Rounding,
}

impl StoppedBy {
    /// The name, as statistics and Python report it: "residual", "networkx", "iterations" or "rounding".
    pub fn name(self) -> &'static str {
        match self {
            StoppedBy::Residual => "residual",
            StoppedBy::Networkx => "networkx",
            StoppedBy::Iterations => "iterations",
            StoppedBy::Rounding => "rounding",
        }
    }

    /// Whether the ranks converged.
    pub fn converged(self) -> bool {
        matches!(self, StoppedBy::Residual | StoppedBy::Networkx)
    }
}
