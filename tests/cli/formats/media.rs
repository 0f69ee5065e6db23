//! XML: DFXML, Media Hash Lists, FCIV.
