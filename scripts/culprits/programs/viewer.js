const fs = require("fs");

function loadThumbnail(path) {
  const file = fs.openSync(path);
  const bytes = Buffer.alloc(1);
  return fs.readSync(file, bytes, 0, 1, 0); // culprit
}

function draw(path) {
  return loadThumbnail(path) + 1;
}

draw(process.argv[2]);
