// The one entry of every page. Each module finds its own markup and does nothing where there is none.
import * as ages from "./ages.js";
import * as dialog from "./dialog.js";
import * as forms from "./forms.js";
import * as gesture from "./second-gesture.js";
import * as keyboard from "./keyboard.js";
import * as live from "./live.js";
import * as notes from "./notes.js";
import * as seen from "./seen.js";
import * as together from "./together.js";
import * as upload from "./upload.js";

for (const part of [ages, dialog, keyboard, gesture, upload, forms, live, notes, seen, together]) part.start();
