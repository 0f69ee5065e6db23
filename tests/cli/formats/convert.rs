//! From any format to any other.
