//! `outcore run NAME`: a command for every algorithm, with its options, made of the declarations.

use crate::common::{Common, count};
use crate::id_lists::IdList;
use crate::learn::{self, LearnArgs};
use crate::solve::{self, SolverArgs};
use clap::builder::{
    BoolValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser, ValueParser,
};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use outcore::learn::STATISTICS;
use outcore::linalg::SOLVERS;
use outcore::{ALGORITHMS, Algorithm, Declared, DefaultValue, Kind, Parameter, Value, named};

/// The flag that takes ranks as they are.
const ALLOW_UNCONVERGED: &str = "allow_unconverged";
/// The flag that leaves weights out.
pub const UNWEIGHTED: &str = "unweighted";
/// The option that says how many rows are shown, and how many that are if it is not given.
const TOP: &str = "top";
const SHOWN: usize = 10;

/// Whether an algorithm itself looks for so many.
fn has_own_top(algorithm: &Algorithm) -> bool {
    algorithm.options.iter().any(|option| option.name == TOP)
}

pub enum RunArgs {
    Algorithm(Box<AlgorithmArgs>),
    Solver(Box<SolverArgs>),
    Learn(Box<LearnArgs>),
}

/// `outcore run` and an algorithm.
pub struct AlgorithmArgs {
    pub algorithm: &'static Algorithm,
    pub given: Vec<(&'static str, Value)>,
    /// The options that are lists of ids, which stand in files perhaps.
    pub lists: Vec<(&'static Parameter, Vec<IdList>)>,
    /// Ranks that have not converged are taken.
    pub allow_unconverged: bool,
    /// Number of the first rows that are shown.
    pub top: usize,
    pub common: Common,
}

impl Args for RunArgs {
    fn augment_args(command: Command) -> Command {
        let command = command.subcommand_required(true).arg_required_else_help(true);
        let command = command.subcommands(ALGORITHMS.iter().map(|algorithm| command_of(*algorithm, with_options)));
        let command = command.subcommands(SOLVERS.iter().map(|solver| command_of(*solver, solve::with_options)));
        command.subcommands(STATISTICS.iter().map(|statistic| command_of(*statistic, learn::with_options)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        if let Some(solver) = named(SOLVERS, name) {
            return Ok(RunArgs::Solver(Box::new(SolverArgs::of(solver, matches)?)));
        }
        if let Some(statistic) = named(STATISTICS, name) {
            return Ok(RunArgs::Learn(Box::new(LearnArgs::of(statistic, matches)?)));
        }
        let algorithm = Algorithm::named(name).ok_or_else(missing)?;
        let given = values_of(algorithm.options, matches);
        let lists = lists_of(algorithm.options, matches);
        let allow_unconverged = allows_unconverged(algorithm, matches);
        let common = Common::from_arg_matches(matches)?;
        let top =
            if has_own_top(algorithm) { SHOWN } else { matches.get_one(TOP).map_or(SHOWN, |&top: &u64| top as usize) };
        Ok(RunArgs::Algorithm(Box::new(AlgorithmArgs { algorithm, given, lists, allow_unconverged, top, common })))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub fn in_shell(name: &str) -> String {
    name.replace('_', "-")
}

/// The command of an algorithm, a solver or a statistic. `with_options` adds its options when they are needed: those of
/// all commands would be memory that every run holds.
fn command_of(declared: &impl Declared, with_options: fn(Command) -> Command) -> Command {
    let signature = declared.signature();
    let command = Command::new(in_shell(signature.name)).about(signature.summary);
    command.visible_aliases(signature.aliases.iter().map(|name| in_shell(name))).defer(with_options)
}

/// The flag that accepts results which did not converge, where that is an error otherwise.
pub fn allow_unconverged(declared: &impl Declared, accepted: &str) -> Option<Arg> {
    let flag = Arg::new(ALLOW_UNCONVERGED).long(in_shell(ALLOW_UNCONVERGED)).action(ArgAction::SetTrue);
    let help = format!("Take {accepted}; otherwise nothing is written, and the exit code is 4");
    declared.signature().must_converge.then(|| flag.help(help))
}

pub fn allows_unconverged(declared: &impl Declared, matches: &ArgMatches) -> bool {
    declared.signature().must_converge && matches.get_flag(ALLOW_UNCONVERGED)
}

/// The command with the options of its algorithm.
fn with_options(mut command: Command) -> Command {
    let Some(algorithm) = Algorithm::named(command.get_name()) else { return command };
    for option in algorithm.options {
        command = command.arg(arg_of(option));
        if let Kind::Weight { .. } = option.kind {
            let unweighted =
                Arg::new(UNWEIGHTED).long(UNWEIGHTED).action(ArgAction::SetTrue).conflicts_with(option.name);
            command = command.arg(unweighted.help("Every edge counts 1, whatever its weight"));
        }
    }
    let accepted = "ranks that have not converged within so many iterations";
    command = command.args(allow_unconverged(algorithm, accepted));
    if !has_own_top(algorithm) {
        let top = Arg::new(TOP).long(TOP).value_name("N").allow_negative_numbers(true).value_parser(count);
        command = command.arg(top.default_value(SHOWN.to_string()).help("How many of the first rows are shown"));
    }
    // The shared options would set the description.
    Common::augment_args(command).about(algorithm.summary)
}

pub fn arg_of(option: &'static Parameter) -> Arg {
    let is_required = option.default == DefaultValue::Required;
    let mut help = option.help.to_owned();
    let arg =
        Arg::new(option.name).long(in_shell(option.name)).aliases(option.aliases.iter().map(|name| in_shell(name)));
    let arg = arg.required(is_required).conflicts_with_all(option.instead_of).action(ArgAction::Set);
    let parsed = ValueParser::from(move |text: &str| option.parse(text));
    let mut arg = match option.kind {
        Kind::Flag if option.default == DefaultValue::Flag(false) => return arg.action(ArgAction::SetTrue).help(help),
        Kind::Flag => arg.value_name("BOOL").value_parser(BoolValueParser::new().map(Value::Flag)),
        // The option reports errors of negative numbers.
        Kind::Whole { .. } => arg.value_name("N").allow_hyphen_values(true).value_parser(parsed),
        Kind::Real => arg.value_name("X").allow_hyphen_values(true).value_parser(parsed),
        Kind::Choice(names) => {
            let names = names().into_iter().map(|(name, meaning)| PossibleValue::new(name).help(meaning));
            arg.value_name("NAME").value_parser(PossibleValuesParser::new(names).map(Value::Name))
        }
        Kind::Reals => arg.value_name("X,X,...").allow_hyphen_values(true).value_parser(parsed),
        Kind::Column => arg.value_name("COLUMN").value_parser(parsed),
        Kind::Weight { .. } => arg.value_name("NAME").value_parser(StringValueParser::new().map(Value::Name)),
        Kind::Vertex => arg.value_name("ID").allow_hyphen_values(true).value_parser(parsed),
        Kind::Vertices | Kind::Seeds => {
            help += match option.kind {
                Kind::Seeds => {
                    "; a set has commas between its ids, \'\"a,b\",c\' are the ids a,b and c, or is a file of ids, \
                     @FILE, one a line; give it again for further sets"
                }
                _ => {
                    ": with commas between them, or given again; \'\"a,b\",c\' are the ids a,b and c; @FILE is a file \
                     of ids, one a line"
                }
            };
            let parsed = ValueParser::from(move |text: &str| IdList::parse(option, text));
            arg.value_name("ID,ID,...|@FILE").allow_hyphen_values(true).value_parser(parsed).action(ArgAction::Append)
        }
    };
    if let Some(needed) = option.needs {
        arg = arg.requires(needed);
    }
    let default = match option.default {
        DefaultValue::Whole(value) => Some(value.to_string()),
        DefaultValue::Real(value) => Some(value.to_string()),
        DefaultValue::Flag(value) => Some(value.to_string()),
        // That of weights is no more than a wish.
        DefaultValue::Name(name) if matches!(option.kind, Kind::Choice(_)) => Some(name.to_owned()),
        _ => None,
    };
    arg.default_values(default).help(help)
}

pub fn values_of(options: &'static [Parameter], matches: &ArgMatches) -> Vec<(&'static str, Value)> {
    let single = options.iter().filter(|option| !IdList::is_for(option));
    single.filter_map(|option| Some((option.name, value_of(option, matches)?))).collect()
}

/// The options that are lists of ids, if they were given.
fn lists_of(options: &'static [Parameter], matches: &ArgMatches) -> Vec<(&'static Parameter, Vec<IdList>)> {
    let lists = options.iter().filter(|option| IdList::is_for(option));
    lists.filter_map(|option| Some((option, matches.get_many(option.name)?.cloned().collect()))).collect()
}

/// An option as it was given; nothing if it was not.
fn value_of(option: &Parameter, matches: &ArgMatches) -> Option<Value> {
    if let Kind::Weight { .. } = option.kind
        && matches.get_flag(UNWEIGHTED)
    {
        return Some(Value::Unweighted);
    }
    if matches.value_source(option.name) != Some(ValueSource::CommandLine) {
        return None;
    }
    if option.default == DefaultValue::Flag(false) {
        return Some(Value::Flag(true));
    }
    matches.get_one::<Value>(option.name).cloned()
}
