/**
 * Writes recorded.json: what kpt makes of every case.
 *
 * node test/render-corpus/record.ts [words]   only cases whose name has one of the words; the others stay as recorded
 */
import { existsSync, writeFileSync } from 'node:fs'
import { ALL_CASES } from './all-cases.ts'
import { RECORDING, type RecordedRender, readRecording, recorded } from './recording.ts'
import { buildFunctionPrograms, renderAllWithKpt } from './run-kpt-render.ts'

const words = process.argv.slice(2)
const before = existsSync(RECORDING) ? readRecording() : {}
const chosen = ALL_CASES.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)
const programs = await buildFunctionPrograms()
try {
  const renders = await renderAllWithKpt(chosen, programs)
  const all: Record<string, RecordedRender> = {}
  for (const each of ALL_CASES) {
    const render = renders.get(each.name)
    const retained = render === undefined ? before[each.name] : recorded(each, render)
    if (retained !== undefined) all[each.name] = retained
    if (render === undefined) continue
    const asText =
      each.refused === undefined ? render.ok : !render.ok && render.text.includes(each.refused)
    if (!asText)
      console.log(
        `${each.name} is not what it says (${each.refused ?? 'renders'}):\n${render.text}`,
      )
  }
  writeFileSync(RECORDING, `${JSON.stringify(all, null, 2)}\n`)
  console.log(`${chosen.length} cases recorded`)
} finally {
  programs.remove()
}
