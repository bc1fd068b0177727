//! Handle allocation and dense slot tables for MGPipe.
