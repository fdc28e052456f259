/** Prints the objects as the recorder reads them: a JSON list. */
import { KSTATUS_OBJECTS } from './objects.ts'

process.stdout.write(JSON.stringify(KSTATUS_OBJECTS.map(({ object }) => object)))
