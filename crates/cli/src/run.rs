//! `outcore run NAME`: a command for every algorithm, solver and statistic.

use crate::algorithm::{self, AlgorithmArgs};
use crate::learn::{self, LearnArgs};
use crate::object::Call;
use crate::options::in_shell;
use crate::solve::{self, SolverArgs};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use outcore::Result;
use outcore::front_ends::{ALGORITHMS, Algorithm, Declared, named};
use outcore::learn::STATISTICS;
use outcore::linalg::SOLVERS;

pub enum RunArgs {
    Algorithm(Box<AlgorithmArgs>),
    Solver(Box<SolverArgs>),
    Learn(Box<LearnArgs>),
}

impl Args for RunArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.subcommand_required(true).arg_required_else_help(true);
        let command = command.subcommands(ALGORITHMS.iter().map(|one| command_of(*one, algorithm::with_options)));
        let command = command.subcommands(SOLVERS.iter().map(|solver| command_of(*solver, solve::with_options)));
        command.subcommands(STATISTICS.iter().map(|statistic| command_of(*statistic, learn::with_options)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        if let Some(solver) = named(SOLVERS, name) {
            return Ok(RunArgs::Solver(Box::new(SolverArgs::of(solver, matches)?)));
        }
        if let Some(statistic) = named(STATISTICS, name) {
            return Ok(RunArgs::Learn(Box::new(LearnArgs::of(statistic, matches)?)));
        }
        let algorithm = Algorithm::named(name).ok_or_else(missing)?;
        Ok(RunArgs::Algorithm(Box::new(AlgorithmArgs::of(algorithm, matches)?)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The command of an algorithm, a solver or a statistic. `with_options` adds its options when they are needed: those of
/// all commands would be memory that every run holds.
fn command_of(declared: &impl Declared, with_options: fn(Command) -> Command) -> Command {
    let signature = declared.signature();
    let command = Command::new(in_shell(signature.name)).about(signature.summary);
    command.visible_aliases(signature.aliases.iter().map(|name| in_shell(name))).defer(with_options)
}

/// `outcore run`. The exit code is 4 if ranks, or values, did not converge.
pub fn run(args: &RunArgs, call: &Call) -> Result<u8> {
    match args {
        RunArgs::Algorithm(args) => algorithm::run(args, call),
        RunArgs::Solver(args) => solve::solve(args, call),
        RunArgs::Learn(args) => learn::learn(args, call),
    }
}
