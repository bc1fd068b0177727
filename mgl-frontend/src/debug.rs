//! `GL_KHR_debug`: messages to a callback or a log, filters, groups and labels.

use std::collections::{HashMap, VecDeque};

use mgpipe_types::gl;

use crate::boundary::{DebugCallback, DebugMessage, LoggedMessage};
use crate::context::Context;
use crate::error::{invalid_enum, invalid_operation, invalid_value, stack_overflow, stack_underflow, GlResult};

/// `GL_MAX_DEBUG_MESSAGE_LENGTH`, terminator included.
pub(crate) const MAX_MESSAGE_LENGTH: usize = 4096;
/// `GL_MAX_DEBUG_LOGGED_MESSAGES`.
pub(crate) const MAX_LOGGED_MESSAGES: usize = 256;
/// `GL_MAX_DEBUG_GROUP_STACK_DEPTH`, the default group included.
pub(crate) const MAX_GROUP_DEPTH: usize = 64;
/// `GL_MAX_LABEL_LENGTH`, terminator included.
pub(crate) const MAX_LABEL_LENGTH: usize = 256;

/// One rule of `glDebugMessageControl`; later rules win.
#[derive(Debug, Clone, PartialEq)]
struct Rule {
    source: u32,
    type_: u32,
    severity: u32,
    id: Option<u32>,
    enabled: bool,
}

impl Rule {
    fn matches(&self, message: &DebugMessage<'_>) -> bool {
        let fits = |rule: u32, value: u32| rule == gl::DONT_CARE || rule == value;
        fits(self.source, message.source)
            && fits(self.type_, message.type_)
            && fits(self.severity, message.severity)
            && self.id.is_none_or(|id| id == message.id)
    }
}

/// An open debug group.
struct Group {
    source: u32,
    id: u32,
    text: String,
    /// How many rules were there when the group opened: they come back when it closes.
    rules: Vec<Rule>,
}

/// Debug output of one context.
pub(crate) struct DebugState {
    /// `GL_DEBUG_OUTPUT`.
    pub(crate) output: bool,
    /// `GL_DEBUG_OUTPUT_SYNCHRONOUS`. Messages are always synchronous; the flag is kept for queries.
    pub(crate) synchronous: bool,
    callback: Option<DebugCallback>,
    log: VecDeque<LoggedMessage>,
    rules: Vec<Rule>,
    groups: Vec<Group>,
    /// Labels by identifier and name. Labels of an object die with its name.
    labels: HashMap<(u32, usize), String>,
}

impl std::fmt::Debug for DebugState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DebugState").field("output", &self.output).field("groups", &self.groups.len()).finish()
    }
}

impl DebugState {
    /// Debug output is on from the start in a debug context only.
    pub(crate) fn new(debug_context: bool) -> DebugState {
        DebugState {
            output: debug_context,
            synchronous: false,
            callback: None,
            log: VecDeque::new(),
            rules: Vec::new(),
            groups: Vec::new(),
            labels: HashMap::new(),
        }
    }

    fn enabled(&self, message: &DebugMessage<'_>) -> bool {
        let initially = message.severity != gl::DEBUG_SEVERITY_LOW;
        self.rules.iter().rev().find(|rule| rule.matches(message)).map_or(initially, |rule| rule.enabled)
    }

    /// Delivers a message, unless output is off or a filter drops it.
    pub(crate) fn message(&mut self, source: u32, type_: u32, id: u32, severity: u32, text: &str) {
        if !self.output {
            return;
        }
        let message = DebugMessage { source, type_, id, severity, text };
        if !self.enabled(&message) {
            return;
        }
        if let Some(callback) = &mut self.callback {
            callback(&message);
        } else if self.log.len() < MAX_LOGGED_MESSAGES {
            self.log.push_back(LoggedMessage { source, type_, id, severity, text: text.to_owned() });
        }
    }

    /// A GL error as a message.
    pub(crate) fn error(&mut self, code: u32, text: &str) {
        log::debug!("{}: {text}", error_name(code));
        if self.output {
            let text = format!("{} in {text}", error_name(code));
            self.message(gl::DEBUG_SOURCE_API, gl::DEBUG_TYPE_ERROR, code, gl::DEBUG_SEVERITY_HIGH, &text);
        }
    }

    /// Messages in the log.
    pub(crate) fn logged(&self) -> usize {
        self.log.len()
    }

    /// Bytes of the oldest logged message with its terminator, 0 when there is none.
    pub(crate) fn next_logged_length(&self) -> usize {
        self.log.front().map_or(0, |m| m.text.len() + 1)
    }

    /// Depth of the group stack, the default group included.
    pub(crate) fn group_depth(&self) -> usize {
        self.groups.len() + 1
    }

    /// Forgets the label of a deleted object.
    pub(crate) fn forget_label(&mut self, identifier: u32, name: usize) {
        if !self.labels.is_empty() {
            self.labels.remove(&(identifier, name));
        }
    }
}

/// The name of an error code.
pub(crate) fn error_name(code: u32) -> &'static str {
    match code {
        gl::INVALID_ENUM => "GL_INVALID_ENUM",
        gl::INVALID_VALUE => "GL_INVALID_VALUE",
        gl::INVALID_OPERATION => "GL_INVALID_OPERATION",
        gl::INVALID_FRAMEBUFFER_OPERATION => "GL_INVALID_FRAMEBUFFER_OPERATION",
        gl::OUT_OF_MEMORY => "GL_OUT_OF_MEMORY",
        gl::STACK_OVERFLOW => "GL_STACK_OVERFLOW",
        gl::STACK_UNDERFLOW => "GL_STACK_UNDERFLOW",
        gl::CONTEXT_LOST => "GL_CONTEXT_LOST",
        _ => "GL error",
    }
}

fn is_source(source: u32) -> bool {
    (gl::DEBUG_SOURCE_API..=gl::DEBUG_SOURCE_OTHER).contains(&source)
}

fn is_type(type_: u32) -> bool {
    (gl::DEBUG_TYPE_ERROR..=gl::DEBUG_TYPE_OTHER).contains(&type_)
        || matches!(type_, gl::DEBUG_TYPE_MARKER | gl::DEBUG_TYPE_PUSH_GROUP | gl::DEBUG_TYPE_POP_GROUP)
}

fn is_severity(severity: u32) -> bool {
    matches!(
        severity,
        gl::DEBUG_SEVERITY_HIGH | gl::DEBUG_SEVERITY_MEDIUM | gl::DEBUG_SEVERITY_LOW | gl::DEBUG_SEVERITY_NOTIFICATION
    )
}

/// Only the application and third parties may speak in their own name.
fn check_application_source(source: u32, command: &'static str) -> GlResult {
    match source {
        gl::DEBUG_SOURCE_APPLICATION | gl::DEBUG_SOURCE_THIRD_PARTY => Ok(()),
        _ => Err(invalid_enum(format!("{command}: source"))),
    }
}

impl Context {
    /// `glDebugMessageCallback`.
    pub fn debug_message_callback(&mut self, callback: Option<DebugCallback>) {
        self.state.debug.callback = callback;
    }

    /// `glDebugMessageControl`.
    pub fn debug_message_control(&mut self, source: u32, type_: u32, severity: u32, ids: &[u32], enabled: bool) {
        self.gl(|ctx| {
            if source != gl::DONT_CARE && !is_source(source) {
                return Err(invalid_enum("glDebugMessageControl: source"));
            }
            if type_ != gl::DONT_CARE && !is_type(type_) {
                return Err(invalid_enum("glDebugMessageControl: type"));
            }
            if severity != gl::DONT_CARE && !is_severity(severity) {
                return Err(invalid_enum("glDebugMessageControl: severity"));
            }
            let wild = source == gl::DONT_CARE || type_ == gl::DONT_CARE || severity != gl::DONT_CARE;
            if !ids.is_empty() && wild {
                return Err(invalid_operation("glDebugMessageControl: ids need a source, a type and no severity"));
            }
            let rules = &mut ctx.state.debug.rules;
            let new: Vec<Rule> = if ids.is_empty() {
                vec![Rule { source, type_, severity, id: None, enabled }]
            } else {
                ids.iter().map(|&id| Rule { source, type_, severity, id: Some(id), enabled }).collect()
            };
            for rule in new {
                // An older rule of the same pattern, or of anything this one covers, can never decide again.
                rules.retain(|old| {
                    let covers = |new: u32, old: u32| new == gl::DONT_CARE || new == old;
                    !(covers(rule.source, old.source)
                        && covers(rule.type_, old.type_)
                        && covers(rule.severity, old.severity)
                        && (rule.id.is_none() || rule.id == old.id))
                });
                rules.push(rule);
            }
            Ok(())
        });
    }

    /// `glDebugMessageInsert`.
    pub fn debug_message_insert(&mut self, source: u32, type_: u32, id: u32, severity: u32, message: &str) {
        self.gl(|ctx| {
            check_application_source(source, "glDebugMessageInsert")?;
            if !is_type(type_) {
                return Err(invalid_enum("glDebugMessageInsert: type"));
            }
            if !is_severity(severity) {
                return Err(invalid_enum("glDebugMessageInsert: severity"));
            }
            if message.len() >= MAX_MESSAGE_LENGTH {
                return Err(invalid_value("glDebugMessageInsert: length"));
            }
            ctx.state.debug.message(source, type_, id, severity, message);
            Ok(())
        });
    }

    /// One step of `glGetDebugMessageLog`: pops the oldest message whose text and terminator fit.
    pub fn get_debug_message(&mut self, max_text_bytes: Option<usize>) -> Option<LoggedMessage> {
        let log = &mut self.state.debug.log;
        let front = log.front()?;
        if max_text_bytes.is_some_and(|max| front.text.len() + 1 > max) {
            return None;
        }
        log.pop_front()
    }

    /// `glPushDebugGroup`.
    pub fn push_debug_group(&mut self, source: u32, id: u32, message: &str) {
        self.gl(|ctx| {
            check_application_source(source, "glPushDebugGroup")?;
            if message.len() >= MAX_MESSAGE_LENGTH {
                return Err(invalid_value("glPushDebugGroup: length"));
            }
            let debug = &mut ctx.state.debug;
            if debug.group_depth() >= MAX_GROUP_DEPTH {
                return Err(stack_overflow("glPushDebugGroup"));
            }
            debug.message(source, gl::DEBUG_TYPE_PUSH_GROUP, id, gl::DEBUG_SEVERITY_NOTIFICATION, message);
            let rules = debug.rules.clone();
            debug.groups.push(Group { source, id, text: message.to_owned(), rules });
            Ok(())
        });
    }

    /// `glPopDebugGroup`.
    pub fn pop_debug_group(&mut self) {
        self.gl(|ctx| {
            let debug = &mut ctx.state.debug;
            let group = debug.groups.pop().ok_or_else(|| stack_underflow("glPopDebugGroup"))?;
            debug.rules = group.rules;
            debug.message(
                group.source,
                gl::DEBUG_TYPE_POP_GROUP,
                group.id,
                gl::DEBUG_SEVERITY_NOTIFICATION,
                &group.text,
            );
            Ok(())
        });
    }

    /// `glObjectLabel`.
    pub fn object_label(&mut self, identifier: u32, name: u32, label: Option<&str>) {
        self.gl(|ctx| {
            ctx.check_labelled(identifier, name, "glObjectLabel")?;
            ctx.set_label(identifier, name as usize, label, "glObjectLabel")
        });
    }

    /// `glGetObjectLabel`.
    pub fn get_object_label(&mut self, identifier: u32, name: u32) -> Option<String> {
        self.gl(|ctx| {
            ctx.check_labelled(identifier, name, "glGetObjectLabel")?;
            Ok(Some(ctx.state.debug.labels.get(&(identifier, name as usize)).cloned().unwrap_or_default()))
        })
    }

    /// `glObjectPtrLabel`: the pointer is a sync object.
    pub fn object_ptr_label(&mut self, sync: usize, label: Option<&str>) {
        self.gl(|ctx| {
            if !ctx.state.share.is_sync(sync) {
                return Err(invalid_value("glObjectPtrLabel: no sync object"));
            }
            ctx.set_label(gl::SYNC_FENCE, sync, label, "glObjectPtrLabel")
        });
    }

    /// `glGetObjectPtrLabel`.
    pub fn get_object_ptr_label(&mut self, sync: usize) -> Option<String> {
        self.gl(|ctx| {
            if !ctx.state.share.is_sync(sync) {
                return Err(invalid_value("glGetObjectPtrLabel: no sync object"));
            }
            Ok(Some(ctx.state.debug.labels.get(&(gl::SYNC_FENCE, sync)).cloned().unwrap_or_default()))
        })
    }

    fn set_label(&mut self, identifier: u32, name: usize, label: Option<&str>, command: &'static str) -> GlResult {
        match label {
            Some(text) if text.len() >= MAX_LABEL_LENGTH => Err(invalid_value(format!("{command}: length"))),
            Some(text) if !text.is_empty() => {
                self.state.debug.labels.insert((identifier, name), text.to_owned());
                Ok(())
            }
            _ => {
                self.state.debug.labels.remove(&(identifier, name));
                Ok(())
            }
        }
    }

    fn check_labelled(&mut self, identifier: u32, name: u32, command: &'static str) -> GlResult {
        let exists = match identifier {
            gl::BUFFER => self.is_buffer(name),
            gl::SHADER => self.is_shader(name),
            gl::PROGRAM => self.is_program(name),
            gl::QUERY => self.is_query(name),
            gl::SAMPLER => self.is_sampler(name),
            gl::TEXTURE => self.is_texture(name),
            gl::RENDERBUFFER => self.is_renderbuffer(name),
            gl::FRAMEBUFFER => name == 0 || self.is_framebuffer(name),
            gl::VERTEX_ARRAY => name == 0 || self.is_vertex_array(name),
            gl::TRANSFORM_FEEDBACK => name == 0,
            _ => return Err(invalid_enum(format!("{command}: identifier"))),
        };
        if exists {
            Ok(())
        } else {
            Err(invalid_value(format!("{command}: no object has this name")))
        }
    }
}
