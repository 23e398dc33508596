//! `outcore completions` and `outcore man`: what shells and `man` know of the command.
//!
//! Both are made of the arguments themselves (`args.rs`, `options.rs`), so every algorithm, solver and option that is
//! declared is in them.

use crate::answer::output_error;
use crate::args::Cli;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use outcore::Result;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Args)]
pub struct ManArgs {
    /// The directory to write the pages to, which exists
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// `outcore completions`: the script, on the standard output.
pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "outcore", &mut script);
    let mut out = std::io::stdout();
    out.write_all(&script).and_then(|()| out.flush()).map_err(output_error)
}

/// `outcore man`: one page for the command, and one for each of its subcommands.
pub fn man(args: &ManArgs) -> Result<()> {
    let written = clap_mangen::generate_to(pages(Cli::command()), &args.directory);
    written.map_err(|error| outcore::Error::file(&args.directory, "write manual pages to", error))
}

/// The command without `help` among its subcommands, which would have a page for each subcommand once more.
fn pages(command: Command) -> Command {
    command.disable_help_subcommand(true).mut_subcommands(pages)
}
