/** A function of the corpus as a program: `run-corpus-function.ts corpus-delete`. */
import { runFunction } from '../../functions/sdk/run-function.ts'
import { CORPUS_FUNCTIONS } from './corpus-functions.ts'

const name = process.argv[2] ?? ''
const found = CORPUS_FUNCTIONS[name]
if (found === undefined) throw new Error(`there is no function ${name}`)
await runFunction(found)
