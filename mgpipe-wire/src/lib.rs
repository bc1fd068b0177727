//! Record codec, recorder and player of the MGPipe stream.
