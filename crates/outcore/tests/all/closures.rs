//! Closures of users fail with errors of any type, which come back as they were.

use outcore::engine::{
    EdgeMapper, Events, Frontier, ProgramOptions, Vertex, VertexProgram, run_program, scan, scan_pages,
};
use outcore::import::from_edges;
use outcore::{Direction, Error, Graph, Result, Runtime};

#[derive(Debug, PartialEq)]
struct Mine(u32);

impl std::fmt::Display for Mine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "queue {} is full", self.0)
    }
}

impl std::error::Error for Mine {}

/// The user's error within an error.
#[track_caller]
fn of<E: std::error::Error + 'static, T>(outcome: Result<T>) -> E {
    match outcome.map(drop) {
        Err(Error::Custom(error)) => *error.downcast().expect("the user's type"),
        other => panic!("expected an error of the user's, found {other:?}"),
    }
}

fn graph() -> Result<Graph> {
    let runtime = Runtime::new(Default::default())?;
    Graph::in_memory(&runtime, from_edges((0_u32..100).map(|vertex| (vertex, vertex + 1)))?, &Default::default())
}

struct Failing;

impl VertexProgram for Failing {
    type State = u32;
    type Message = u32;

    fn run(&self, vertex: &mut Vertex<'_, u32>, _state: &mut u32) {
        vertex.fail(Mine(6));
    }

    fn on_message(&self, _events: &mut Events<'_, u32>, _state: &mut u32, _message: u32) {}
}

#[test]
fn errors_of_any_type_come_back_from_closures() -> Result<()> {
    let graph = graph()?;
    let (out, all) = (Direction::Out, Frontier::All);
    assert_eq!(of::<Mine, _>(scan(&graph, out, all, || (), |(), _| Err(Mine(1)))), Mine(1));
    assert_eq!(of::<Mine, _>(scan_pages(&graph, out, all, || (), |(), _, _| Err(Mine(2)))), Mine(2));
    assert_eq!(of::<Mine, _>(graph.lists(out, all).par_for_each(|| (), |(), _| Err(Mine(3)))), Mine(3));
    let mut mapper = EdgeMapper::new(&graph, 0)?;
    assert_eq!(of::<Mine, _>(mapper.push_step(|_, _, _| Err(Mine(4)))), Mine(4));
    let mut states = vec![0; graph.vertices() as usize];
    assert_eq!(of::<Mine, _>(run_program(&graph, &Failing, &mut states, &ProgramOptions::default())), Mine(6));
    // Errors of the standard library, and texts.
    let full = || std::io::Error::from_raw_os_error(28);
    let found = of::<std::io::Error, _>(scan(&graph, out, all, || (), |(), _| Err(full())));
    assert_eq!(found.raw_os_error(), Some(28));
    let text = scan(&graph, out, all, || (), |(), _| Err("no more".to_owned())).unwrap_err();
    assert!(matches!(text, Error::Custom(_)) && text.to_string().contains("no more"), "{text}");
    // An error of Outcore's own stays what it is.
    let inner = scan(&graph, out, all, || (), |(), _| graph.vertex("nobody").map(drop)).unwrap_err();
    assert!(!matches!(inner, Error::Custom(_)), "{inner:?}");
    Ok(())
}
