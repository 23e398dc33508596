//! Entry points that compiled functions call. They hand on the pointers and lengths of their arrays, and the handle
//! that they were given: so each `unsafe` below rests on the invariant of `program`.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks)]

use super::functions::{Handle, Happening};
use outcore::Direction;
use outcore::engine::Events;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use std::ffi::c_void;
use std::fmt::Display;

/// The functions that compiled code calls, with their addresses.
#[pyfunction]
pub fn program_symbols() -> Vec<(&'static str, usize)> {
    vec![
        ("outcore_iteration", iteration as *const () as usize),
        ("outcore_list_of", list_of as *const () as usize),
        ("outcore_is_in", is_in as *const () as usize),
        ("outcore_send", send as *const () as usize),
        ("outcore_send_one", send_one as *const () as usize),
        ("outcore_activate", activate as *const () as usize),
        ("outcore_activate_one", activate_one as *const () as usize),
        ("outcore_request", request as *const () as usize),
        ("outcore_request_one", request_one as *const () as usize),
        ("outcore_request_end", request_end as *const () as usize),
    ]
}

impl<'v> Handle<'_, 'v> {
    /// # Safety
    /// The pointer is one that [`Functions::lend`] gave to the function that calls now.
    unsafe fn of<'a>(handle: *mut c_void) -> &'a mut Handle<'a, 'a> {
        // SAFETY: as the caller says.
        unsafe { &mut *handle.cast() }
    }

    pub fn events(&mut self) -> &mut Events<'v, u64> {
        match &mut self.happening {
            Happening::Turn(vertex) => vertex,
            Happening::Event(events) => events,
        }
    }

    /// The vertices at an address, if all of them exist.
    ///
    /// # Safety
    /// `first` points to `count` numbers, unless `count` is 0.
    unsafe fn vertices<'a>(&self, first: *const u32, count: usize) -> &'a [u32] {
        // SAFETY: as the caller says; empty arrays may be anywhere.
        let vertices = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(first, count) } };
        match vertices.iter().find(|&&vertex| u64::from(vertex) >= self.functions.vertices) {
            Some(vertex) => {
                self.functions.fail(self.no_vertex(vertex));
                &[]
            }
            None => vertices,
        }
    }

    /// The vertex of a number, given by its 64 bits, if it exists.
    fn vertex(&self, bits: u64, has_sign: u8) -> Option<u32> {
        let vertex = u32::try_from(bits).ok().filter(|&vertex| u64::from(vertex) < self.functions.vertices);
        if vertex.is_none() {
            let error = if has_sign == 0 { self.no_vertex(bits) } else { self.no_vertex(bits as i64) };
            self.functions.fail(error);
        }
        vertex
    }

    fn no_vertex(&self, found: impl Display) -> PyErr {
        PyIndexError::new_err(format!("vertex {found} of a graph of {} vertices", self.functions.vertices))
    }
}

unsafe extern "C" fn iteration(handle: *mut c_void) -> u32 {
    unsafe { Handle::of(handle) }.events().iteration()
}

unsafe extern "C" fn list_of(handle: *mut c_void) -> u32 {
    unsafe { Handle::of(handle) }.list_of
}

unsafe extern "C" fn is_in(handle: *mut c_void) -> u8 {
    match &unsafe { Handle::of(handle) }.happening {
        Happening::Turn(vertex) => u8::from(vertex.direction() == Direction::In),
        Happening::Event(_) => 0,
    }
}

unsafe extern "C" fn send(targets: *const u32, count: usize, message: u64, handle: *mut c_void) {
    let handle = unsafe { Handle::of(handle) };
    let targets = unsafe { handle.vertices(targets, count) };
    handle.events().multicast(targets, message);
}

unsafe extern "C" fn send_one(target: u64, has_sign: u8, message: u64, handle: *mut c_void) {
    if let Some(target) = unsafe { Handle::of(handle) }.vertex(target, has_sign) {
        unsafe { send(&raw const target, 1, message, handle) }
    }
}

unsafe extern "C" fn activate(vertices: *const u32, count: usize, handle: *mut c_void) {
    let handle = unsafe { Handle::of(handle) };
    let vertices = unsafe { handle.vertices(vertices, count) };
    handle.events().activate(vertices);
}

unsafe extern "C" fn activate_one(vertex: u64, has_sign: u8, handle: *mut c_void) {
    if let Some(vertex) = unsafe { Handle::of(handle) }.vertex(vertex, has_sign) {
        unsafe { activate(&raw const vertex, 1, handle) }
    }
}

unsafe extern "C" fn request_one(vertex: u64, has_sign: u8, in_lists: u8, handle: *mut c_void) {
    if let Some(vertex) = unsafe { Handle::of(handle) }.vertex(vertex, has_sign) {
        unsafe { request(&raw const vertex, 1, in_lists, handle) }
    }
}

unsafe extern "C" fn request_end(handle: *mut c_void) {
    unsafe { Handle::of(handle) }.events().request_end();
}

unsafe extern "C" fn request(vertices: *const u32, count: usize, in_lists: u8, handle: *mut c_void) {
    let handle = unsafe { Handle::of(handle) };
    let vertices = unsafe { handle.vertices(vertices, count) };
    let direction = if in_lists == 0 { Direction::Out } else { Direction::In };
    match &mut handle.happening {
        Happening::Turn(vertex) => vertex.request_of(vertices, direction),
        Happening::Event(_) => {
            let text = "lists can be asked for in run and on_list only; activate the vertex instead";
            handle.functions.fail(PyRuntimeError::new_err(text));
        }
    }
}
