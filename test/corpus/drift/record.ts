/**
 * Records the drift corpus from a real control plane with its controllers: of every case, or of those whose name contains one
 * of the words, `live.json` and `predicted.json`; and what they share, in `_server/`. A case of which nothing changed keeps its files.
 *
 *   node test/corpus/drift/record.ts [words]
 */
import { recordCorpus } from '../../drift-corpus/record-corpus.ts'

process.exitCode = (await recordCorpus(process.argv.slice(2), (line) => console.log(line))) ? 0 : 1
