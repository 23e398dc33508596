//! Options of `outcore run`, made of the declarations of algorithms, solvers and statistics.

use crate::id_lists::IdList;
use clap::builder::{
    BoolValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser, ValueParser,
};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};
use outcore::front_ends::{Declared, DefaultValue, Kind, Parameter, Value};

/// The flag that takes ranks as they are.
const ALLOW_UNCONVERGED: &str = "allow_unconverged";
/// The flag that leaves weights out.
pub const UNWEIGHTED: &str = "unweighted";
pub fn in_shell(name: &str) -> String {
    name.replace('_', "-")
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
pub fn lists_of(options: &'static [Parameter], matches: &ArgMatches) -> Vec<(&'static Parameter, Vec<IdList>)> {
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
