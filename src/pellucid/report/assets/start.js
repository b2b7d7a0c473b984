// The data are in the page: draw it.
build();
