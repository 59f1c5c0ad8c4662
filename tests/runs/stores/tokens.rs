//! A store's own journal: tokens, and that no client sees or names it.

use std::collections::BTreeMap;
use std::sync::Arc;

use statemark_runs::authority::{
    AdoptTokens, CreateSessionToken, CreateToken, Founding, GiveUpToken, InitStore, InvalidToken,
    MakeToken, RecordFirstUse, RevokeToken, SESSION_TOKEN_LIFE, TokenError, first_difference,
    load_authority,
};
use statemark_runs::maintenance::{ignore_progress, migrate, verify};
use statemark_runs::{
    Actor, Clock, Hash, ManualClock, Operation, Query, Role, RunError, RunId, Runs, Store,
    StoreError, Watermark,
};

use super::{Made, begun, in_memory, notes, run};
use crate::harness::BEGIN;

/// Something that every store does, in a word or two, and how it is seen.
type Promise = (&'static str, fn(Made));

pub(super) const PROMISES: &[Promise] = &[
    ("persons make tokens", persons_make_tokens),
    ("tokens end", tokens_end),
    ("a session's token ends with it", sessions),
    ("former tokens are adopted once", adopting),
    ("no client sees the store's journal", hidden),
    ("a copy of a store has its tokens", copies),
];

fn over(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Runs {
    let none = Arc::new(BTreeMap::new());
    Runs::new(Arc::clone(store), none, Arc::clone(clock) as Arc<dyn Clock>)
}

fn agent() -> Actor {
    Actor::new(Role::Agent)
}

fn ann() -> Actor {
    Actor::new(Role::Person).with_name("ann")
}

fn create(name: &str, role: Role, founded: bool) -> CreateToken {
    CreateToken {
        token: MakeToken::new(name, role),
        founded,
    }
}

fn refused<O: Operation<Order = Actor>>(runs: &Runs, actor: &Actor, operation: &O) -> String {
    match runs.execute(actor, operation) {
        Ok(_) => panic!("{} wasn't refused", O::NAME),
        Err(error) => error.to_string(),
    }
}

fn persons_make_tokens((store, clock): Made) {
    let runs = over(&store, &clock);
    assert!(runs.authority().unwrap().allows_anonymous());
    let lonely = refused(&runs, &agent(), &create("ann", Role::Person, false));
    assert_eq!(
        lonely,
        "agent isn't a person: only one may create, rotate and revoke tokens, and keys that sign decisions"
    );
    assert_eq!(
        refused(&runs, &agent(), &create("bot", Role::Agent, true)),
        TokenError::FirstIsAPersons.to_string()
    );
    let text = runs
        .execute(&agent(), &create("ann", Role::Person, true))
        .unwrap();
    let authority = runs.authority().unwrap();
    let token = authority.find(&format!("{text}\n"), BEGIN).unwrap();
    assert_eq!(token.actor(), ann());
    assert_eq!(token.founding, Some(Founding::Terminal));
    assert!(!authority.allows_anonymous());
    // From now on a terminal is not enough.
    assert_eq!(
        refused(&runs, &agent(), &create("eve", Role::Person, true)),
        TokenError::HasPerson.to_string()
    );
    let bot = CreateToken {
        token: MakeToken {
            run: Some(run("r1")),
            ..MakeToken::new("bot", Role::Agent)
        },
        founded: false,
    };
    let text = runs.execute(&ann(), &bot).unwrap();
    let authority = runs.authority().unwrap();
    let token = authority.find(&text, BEGIN).unwrap();
    assert!(token.is_for(&run("r1")) && !token.is_for(&run("r2")));
    assert_eq!((token.by.as_deref(), token.founding), (Some("ann"), None));
    assert_eq!(
        refused(&runs, &ann(), &bot),
        "there is a token for `bot` already: revoke it, rotate it, or choose another name"
    );
    for (name, why) in [
        ("", "the name of a token is empty"),
        ("a b", "the name of a token has a space in it"),
        (
            "a\u{202e}b",
            "the name of a token has a character in it that can't be seen",
        ),
        (
            &"a".repeat(65),
            "the name of a token has more than 64 characters",
        ),
    ] {
        let create = create(name, Role::Agent, false);
        assert_eq!(refused(&runs, &ann(), &create), why);
    }
    assert_eq!(
        refused(&runs, &ann(), &create("eve", Role::System, false)),
        "no token gives the role system: it may be agent, person or observer"
    );
    // The text is nowhere in the store.
    let records = store.records(&RunId::store_journal(), 0, 100).unwrap();
    assert!(records.iter().all(|it| !it.body.contains(&text)));
    assert_eq!(load_authority(&*store).unwrap(), *runs.authority().unwrap());
    assert_eq!(first_difference(&*store).unwrap(), None);
}

fn tokens_end((store, clock): Made) {
    let runs = over(&store, &clock);
    let ann_text = runs
        .execute(&agent(), &create("ann", Role::Person, true))
        .unwrap();
    let short = CreateToken {
        token: MakeToken {
            lifetime: Some(1_000),
            ..MakeToken::new("short", Role::Agent)
        },
        founded: false,
    };
    let text = runs.execute(&ann(), &short).unwrap();
    let find = |text: &str| {
        let authority = runs.authority().unwrap();
        authority.find(text, clock.now()).cloned()
    };
    let used = find(&text).unwrap();
    assert_eq!(used.used, None);
    for _ in 0..2 {
        let record = RecordFirstUse { hash: used.hash };
        runs.execute(&used.actor(), &record).unwrap();
    }
    assert_eq!(find(&text).unwrap().used, Some(BEGIN));
    clock.advance(1_000);
    assert_eq!(
        find(&text),
        Err(InvalidToken::Expired {
            name: "short".to_owned(),
            at: BEGIN + 1_000
        })
    );
    assert!(!runs.authority().unwrap().is_valid(&used.hash, clock.now()));
    // Its name is free, and rotating one keeps its rights and its length.
    let text = runs.execute(&ann(), &short).unwrap();
    let rotate = RevokeToken {
        name: "short".to_owned(),
        rotate: true,
    };
    let new = runs.execute(&ann(), &rotate).unwrap().unwrap();
    assert_eq!(find(&text), Err(InvalidToken::Unknown));
    assert_eq!(find(&new).unwrap().expires, Some(clock.now() + 1_000));
    let revoke = |name: &str| RevokeToken {
        name: name.to_owned(),
        rotate: false,
    };
    assert_eq!(
        refused(&runs, &ann(), &revoke("nobody")),
        "there is no token of `nobody`"
    );
    assert!(refused(&runs, &agent(), &revoke("ann")).contains("isn't a person"));
    // Nobody could decide any more.
    assert_eq!(
        refused(&runs, &ann(), &revoke("ann")),
        "`ann` is the only person of this store: create another person's token first, or replace this one by `--rotate`"
    );
    assert_eq!(runs.execute(&ann(), &revoke("short")).unwrap(), None);
    assert_eq!(find(&new), Err(InvalidToken::Unknown));
    assert!(find(&ann_text).is_ok());
    assert!(!runs.authority().unwrap().allows_anonymous());
}

fn sessions((store, clock): Made) {
    let runs = over(&store, &clock);
    runs.execute(&agent(), &create("ann", Role::Person, true))
        .unwrap();
    let session = CreateSessionToken {
        run: Some(run("r1")),
    };
    let (name, text) = runs.execute(&ann(), &session).unwrap();
    let authority = runs.authority().unwrap();
    let token = authority.find(&text, BEGIN).unwrap();
    // The token of a person who starts a server gives its clients an agent's rights.
    assert_eq!((token.role, &token.name), (Role::Agent, &name));
    assert!(!token.is_for(&run("r2")));
    runs.execute(&agent(), &GiveUpToken { text: text.clone() })
        .unwrap();
    let authority = runs.authority().unwrap();
    assert_eq!(authority.find(&text, BEGIN), Err(InvalidToken::Unknown));
    // What a killed server has left ends on its own, and the next one clears it away.
    runs.execute(&ann(), &session).unwrap();
    clock.advance(SESSION_TOKEN_LIFE);
    runs.execute(&ann(), &session).unwrap();
    assert_eq!(runs.authority().unwrap().tokens().count(), 2);
}

fn adopting((store, clock): Made) {
    let runs = over(&store, &clock);
    let adopt = AdoptTokens {
        tokens: vec![(
            MakeToken::new("ann", Role::Person),
            Hash::digest(b"smk_old"),
        )],
    };
    runs.execute(&agent(), &adopt).unwrap();
    let authority = runs.authority().unwrap();
    assert_eq!(authority.find("smk_old", BEGIN).unwrap().actor(), ann());
    assert_eq!(
        refused(&runs, &agent(), &adopt),
        TokenError::HasPerson.to_string()
    );
    let init = InitStore {
        name: "eve".to_owned(),
        hash: Hash::digest(b"smk_eve"),
    };
    assert_eq!(
        refused(&runs, &agent(), &init),
        TokenError::HasPerson.to_string()
    );
    let (other, clock) = in_memory();
    let runs = over(&other, &clock);
    runs.execute(&agent(), &init).unwrap();
    let entries = other.head(&RunId::store_journal()).unwrap().seq;
    runs.execute(&agent(), &init).unwrap();
    assert_eq!(other.head(&RunId::store_journal()).unwrap().seq, entries);
    let (used, clock) = in_memory();
    begun(&*used, "r1", 1);
    assert_eq!(
        refused(&over(&used, &clock), &agent(), &init),
        TokenError::NotEmpty.to_string()
    );
}

fn hidden((store, clock): Made) {
    let runs = over(&store, &clock);
    begun(&*store, "r1", 2);
    let (mark, _) = store.changes(&Watermark::default()).unwrap();
    runs.execute(&agent(), &create("ann", Role::Person, true))
        .unwrap();
    let all = Query {
        limit: 10,
        ..Query::default()
    };
    let statuses = Query {
        statuses: vec!["store".to_owned()],
        ..all.clone()
    };
    let prefix = Query {
        prefix: Some("$".to_owned()),
        ..all.clone()
    };
    let listed = |query| {
        let heads = store.list(query).unwrap().heads;
        let ids = heads.iter().map(|head| head.run.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(listed(&all), ["r1"]);
    assert!(listed(&statuses).is_empty() && listed(&prefix).is_empty());
    let counts = store.status_counts().unwrap();
    assert_eq!(counts.values().sum::<u64>(), 1, "{counts:?}");
    assert!(store.changes(&mark).unwrap().1.is_empty());
    assert!("$store".parse::<RunId>().is_err());
    let named = serde_json::from_str::<RunId>("\"$store\"");
    assert!(named.is_err());
    let whole = verify(&*store, None, &mut ignore_progress).unwrap();
    assert_eq!(whole.runs, 1);
}

fn copies((store, clock): Made) {
    let runs = over(&store, &clock);
    let text = runs
        .execute(&agent(), &create("ann", Role::Person, true))
        .unwrap();
    let (copy, _) = in_memory();
    for _ in 0..2 {
        migrate(&*store, &*copy, &mut ignore_progress).unwrap();
        let authority = load_authority(&*copy).unwrap();
        assert_eq!(authority, load_authority(&*store).unwrap());
        assert_eq!(authority.find(&text, BEGIN).unwrap().name, "ann");
        // What came since is copied by the next call.
        let bot = CreateToken {
            token: MakeToken::new(format!("bot{}", authority.tokens().count()), Role::Agent),
            founded: false,
        };
        runs.execute(&ann(), &bot).unwrap();
    }
    // Whoever has a store of his own is nobody in one that has runs and no tokens yet.
    let (guardless, _) = in_memory();
    begun(&*guardless, "r1", 1);
    let brought = migrate(&*store, &*guardless, &mut ignore_progress);
    assert!(
        matches!(brought, Err(StoreError::Invalid { .. })),
        "{brought:?}"
    );
    assert!(load_authority(&*guardless).unwrap().allows_anonymous());
    let (other, clock) = in_memory();
    let theirs = over(&other, &clock);
    theirs
        .execute(&agent(), &create("eve", Role::Person, true))
        .unwrap();
    let mixed = migrate(&*store, &*other, &mut ignore_progress);
    assert!(
        matches!(mixed, Err(StoreError::Invalid { .. })),
        "{mixed:?}"
    );
}

#[test]
fn a_forged_entry_is_found() {
    let (store, clock) = in_memory();
    let runs = over(&store, &clock);
    runs.execute(&agent(), &create("ann", Role::Person, true))
        .unwrap();
    let mut append = notes("r1", statemark_runs::Expect::Any, &["no entry"]);
    append.run = RunId::store_journal();
    store.append(&append).unwrap();
    // A kind that this version doesn't know changes nothing: a later version may have written it.
    assert_eq!(runs.authority().unwrap().tokens().count(), 1);
    append.records[0].kind = "token.created".to_owned();
    append.records[0].v = 1;
    store.append(&append).unwrap();
    let broken = runs.authority();
    assert!(
        matches!(&broken, Err(RunError::Store(StoreError::Corrupt { .. }))),
        "{broken:?}"
    );
    let whole = verify(&*store, None, &mut ignore_progress).unwrap();
    let found = whole.differences.first().unwrap().to_string();
    assert!(
        found.starts_with("the store's own journal at record 4: it can't be read"),
        "{found}"
    );
}
