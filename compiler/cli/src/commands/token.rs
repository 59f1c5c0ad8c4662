//! `token`: the tokens of a store, by which callers are known.

use clap::Subcommand;
use statemark_runs::authority::{AdoptTokens, CreateToken, MakeToken, RevokeToken, TokenError};
use statemark_runs::{Role, RunError, RunId, Runs, Token};

use crate::args::{self, StoreArgs, TextFormat};
use crate::caller::Identity;
use crate::clock::format_time;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{self, Printer};
use crate::{caller, files, project, runs};

/// Create, list, rotate and revoke the tokens by which callers are known.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark token create ann --role person --save    for `approve`, `answer`, `force` …\n  \
                        statemark token create ci --role agent             set STATEMARK_TOKEN to what it prints\n  \
                        statemark token list\n  \
                        statemark token revoke ci\n\n\
                        Tokens are in the store that they give rights to. The first one is a person's: it is made at a\n\
                        terminal, by typing the store's name, or by `statemark store init`. Persons make the others.\n\
                        Without a token, a command is an agent's. Keep persons' tokens from your agents.")]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

/// A subcommand of `token`.
#[derive(Debug, Subcommand)]
enum TokenCommand {
    Create(CreateArgs),
    /// List the tokens that weren't revoked
    #[command(after_help = "Example:\n  statemark token list --json")]
    List {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Replace a token by another with the same rights
    #[command(after_help = "Example:\n  statemark token rotate ci")]
    Rotate(NameArgs),
    /// Revoke a token
    #[command(after_help = "Example:\n  statemark token revoke ci")]
    Revoke(NameArgs),
    /// Take over the tokens of `.statemark/tokens.json`, from before they were in stores
    #[command(after_help = "Example:\n  statemark token adopt")]
    Adopt {
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// Create a token; it is printed once
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark token create ann --role person --save\n  \
                        statemark token create nightly --role agent --expires 30d")]
struct CreateArgs {
    /// The name of its holder, as journals show it
    #[arg(value_name = "NAME")]
    name: String,
    /// The holder's role: person decides, agent drives runs, observer reads
    #[arg(long, value_name = "ROLE", value_parser = args::name::<Role>)]
    role: Role,
    /// The only run that it is valid for
    #[arg(long, value_name = "RUN")]
    run: Option<RunId>,
    /// For an agent that drives several runs: each call is judged by its run alone
    #[arg(long, conflicts_with = "run")]
    many_runs: bool,
    /// The time for which it is valid, such as 12h or 30d
    #[arg(long, value_name = "TIME", value_parser = args::milliseconds)]
    expires: Option<u64>,
    /// Save it in your own configuration instead of printing it
    #[arg(long)]
    save: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// The token of a name.
#[derive(Debug, clap::Args)]
struct NameArgs {
    /// The name of its holder
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    store: StoreArgs,
}

/// Runs a subcommand.
pub(super) fn run(args: &TokenArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        TokenCommand::Create(args) => create(args, printer),
        TokenCommand::List { store } => list(store, printer),
        TokenCommand::Rotate(args) => rotate(args, printer),
        TokenCommand::Revoke(args) => revoke(args, printer),
        TokenCommand::Adopt { store } => adopt(store, printer),
    }
}

fn create(args: &CreateArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open_or_create(&args.store)?;
    if args.save {
        caller::check_unsaved(&runs)?;
    }
    let name = &args.name;
    let mut create = CreateToken {
        token: MakeToken {
            run: args.run.clone(),
            many_runs: args.many_runs,
            lifetime: args.expires,
            ..MakeToken::new(name.clone(), args.role)
        },
        founded: false,
    };
    let text = if runs.authority()?.has_person(runs.now()) {
        let deed = format!("create a token for `{name}` ({})", args.role.name());
        runs::execute_on_store(&runs, &deed, &create)?
    } else {
        create.founded = args.role == Role::Person && ask_for_name(&args.store)?;
        let agent = Identity::anonymous().actor;
        let made = if create.founded {
            runs.execute(&agent, &create)
        } else if args.role == Role::Person {
            Err(TokenError::NeedsTerminal.into())
        } else {
            Err(TokenError::FirstIsAPersons.into())
        };
        made.map_err(|error| match error {
            RunError::Token(error) if *error == TokenError::NeedsTerminal => {
                Failure::new(error.to_string()).with_help(
                    "in a container or a script: `statemark store init --person NAME --token-hash FILE`",
                )
            }
            error => error.into(),
        })?
    };
    if args.save {
        let path = match caller::save_token(&text) {
            Ok(path) => files::display(&path),
            Err(failure) => {
                // It is valid, and nobody could ask for it again.
                print_token(&text, name, args.role, printer);
                return Err(failure);
            }
        };
        printer.remark(&format!("`{name}` decides with the token in {path}\n"));
        return Ok(ExitStatus::Clean);
    }
    print_token(&text, name, args.role, printer);
    Ok(ExitStatus::Clean)
}

/// Asks somebody at the terminal to type the store's name: the act that makes the first token.
fn ask_for_name(store: &StoreArgs) -> Result<bool, Failure> {
    let address = project::existing_store_address(store.store.as_deref())?;
    let name = project::store_name(&address);
    let question = format!(
        "Nobody has a person's token for the store `{name}` now: who holds this one decides for everybody.\n\
         Type the store's name to go on: "
    );
    match printer::ask(&question) {
        None => Ok(false),
        Some(typed) if typed.trim() == name => Ok(true),
        Some(_) => Err(Failure::new(
            "that isn't the store's name; nothing was done",
        )),
    }
}

fn print_token(text: &str, name: &str, role: Role, printer: &mut Printer) {
    printer.result(&format!("{text}\n"));
    let role = role.name();
    printer.remark(&format!(
        "printed once; with STATEMARK_TOKEN set to it, commands are those of `{name}` ({role})\n"
    ));
}

fn list(store: &StoreArgs, printer: &mut Printer) -> CommandResult {
    const EMPTY: &str = "no tokens; `statemark token create NAME --role person` creates one\n";
    let Some(runs) = runs::open_if_exists(store)? else {
        printer.remark(EMPTY);
        return Ok(ExitStatus::Clean);
    };
    let (authority, now) = (runs.authority()?, runs.now());
    let width = |token: &Token| token.name.chars().count();
    let width = authority.tokens().map(width).max().unwrap_or(0);
    for token in authority.tokens() {
        match store.format() {
            TextFormat::Json => printer.json(token),
            TextFormat::Text => {
                let line = describe_token(token, width, now, printer);
                printer.result(&line);
            }
        }
    }
    if authority.tokens().next().is_none() {
        printer.remark(EMPTY);
    }
    Ok(ExitStatus::Clean)
}

fn describe_token(token: &Token, width: usize, now: u64, printer: &Printer) -> String {
    let (name, role) = (&token.name, token.role.name());
    let mut facts = vec![format_time(token.created)];
    match (&token.by, token.founding) {
        (Some(by), _) => facts.push(format!("by {by}")),
        (None, Some(founding)) => facts.push(format!("by {}", founding.name())),
        (None, None) => {}
    }
    facts.push(match token.used {
        Some(used) => format!("used first {}", format_time(used)),
        None => "never used".to_owned(),
    });
    if let Some(end) = token.expires {
        let verb = if token.has_expired(now) {
            "expired"
        } else {
            "expires"
        };
        facts.push(format!("{verb} {}", format_time(end)));
    }
    let facts = printer.palette().dim(&facts.join(", "));
    let only = match &token.run {
        Some(run) => format!("  only {run}"),
        None if token.many_runs => "  many runs".to_owned(),
        None => String::new(),
    };
    format!("{name:width$}  {role:8}  {facts}{only}\n")
}

/// Revokes a token, or replaces it. Returns the new one's text.
fn change(runs: &Runs, name: &str, deed: &str, rotate: bool) -> Result<Option<String>, Failure> {
    let revoke = RevokeToken {
        name: name.to_owned(),
        rotate,
    };
    let caller = caller::identify_person(runs, deed)?;
    runs.execute(&caller.actor, &revoke)
        .map_err(|error| match error {
            RunError::Token(error) => match *error {
                TokenError::Unknown { ref known, .. } => {
                    Failure::unknown_name(error.to_string(), name, known)
                }
                error => Failure::new(error.to_string()),
            },
            error => error.into(),
        })
}

fn rotate(args: &NameArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let name = &args.name;
    let deed = format!("replace the token of `{name}`");
    let text = change(&runs, name, &deed, true)?.unwrap_or_default();
    let authority = runs.authority()?;
    let role = authority.tokens().find(|it| it.name == *name);
    let role = role.map_or(Role::Agent, |it| it.role);
    print_token(&text, name, role, printer);
    Ok(ExitStatus::Clean)
}

fn revoke(args: &NameArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let name = &args.name;
    change(&runs, name, &format!("revoke the token of `{name}`"), false)?;
    printer.remark(&format!("revoked the token of `{name}`\n"));
    if runs.authority()?.tokens().next().is_none() {
        printer.remark(
            "it was the last one: servers over HTTP refuse everybody until there is another\n",
        );
    }
    Ok(ExitStatus::Clean)
}

fn adopt(store: &StoreArgs, printer: &mut Printer) -> CommandResult {
    let Some(path) = caller::former_list()? else {
        return Err(Failure::new("there is no `.statemark/tokens.json` here"));
    };
    let tokens = caller::read_former_list(&path)?;
    let runs = runs::open_or_create(store)?;
    for (token, _) in &tokens {
        let (name, role) = (&token.name, token.role.name());
        printer.result(&format!("{name}  {role}\n"));
    }
    printer.flush();
    if !ask_for_name(store)? {
        return Err(Failure::new(TokenError::NeedsTerminal.to_string()));
    }
    let count = tokens.len();
    let caller = Identity::anonymous();
    runs.execute(&caller.actor, &AdoptTokens { tokens })?;
    printer.remark(&format!(
        "took over {}; `{}` has no effect any more\n",
        printer::count(count, "token"),
        files::display(&path)
    ));
    Ok(ExitStatus::Clean)
}
