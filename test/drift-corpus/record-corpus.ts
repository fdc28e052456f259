/** Stages and records cases, some at a time, and says of each what ours makes of it. */
import { findAppliers } from '../appliers/appliers.ts'
import { type DriftCase, filesBelow, readCases } from './case.ts'
import { mistakes, observedIn } from './observe-case.ts'
import { discoverKinds, recordCase, recordSchemas } from './record-case.ts'
import { readKinds, writeKinds, writeRecordingOf } from './recording.ts'
import { stageCase, startCorpusPlane, ToolNotRun } from './stage.ts'

/** Cases at once: most of the time of each is waiting for the next second and for controllers. */
const WIDTH = 7

/** @returns whether every case could be recorded */
export async function recordCorpus(
  words: readonly string[],
  report: (line: string) => void,
): Promise<boolean> {
  const cases = readCases(words)
  if (cases.length === 0) throw new Error('no case has such a name')
  const appliers = await findAppliers({ report })
  const plane = await startCorpusPlane(report)
  let recorded = true
  try {
    const kinds = await discoverKinds(plane)
    const used = new Map<string, Set<string>>()
    const waiting = cases.values()
    const worker = async (): Promise<void> => {
      for (const one of waiting) {
        try {
          const stage = await stageCase(plane, one, appliers)
          try {
            const { observation, recording } = await recordCase(stage, kinds)
            for (const [apiVersion, kind] of kindsOf(one))
              used.set(apiVersion, (used.get(apiVersion) ?? new Set()).add(kind))
            for (const object of recording.live.objects) {
              const apiVersion = String(object['apiVersion'])
              used.set(apiVersion, (used.get(apiVersion) ?? new Set()).add(String(object['kind'])))
            }
            const written = writeRecordingOf(one, recording)
            const wrong = mistakes(observedIn(observation), one.truth)
            report(`${one.name}: ${written}${wrong.map((line) => `\n  ${line}`).join('')}`)
          } finally {
            stage.close()
          }
        } catch (thrown) {
          recorded = false
          report(
            `${one.name}: ${thrown instanceof ToolNotRun ? 'not run' : 'failed'}: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
          )
        }
      }
    }
    await Promise.all(Array.from({ length: WIDTH }, worker))
    await recordSchemas(plane, used)
    const known = new Map(
      [...readKinds(), ...kinds].map((kind) => [`${kind.group}/${kind.kind}`, kind]),
    )
    writeKinds([...known.values()])
  } finally {
    await plane.stop()
  }
  return recorded
}

/** API version and kind of every document of the case. */
function kindsOf({ folder }: DriftCase): [string, string][] {
  const texts = Object.entries(filesBelow(folder)).filter(([path]) =>
    /^(package|setup|history)\/.*\.ya?ml$/.test(path),
  )
  return texts.flatMap(([, text]) =>
    text.split(/^---$/m).flatMap((document): [string, string][] => {
      const apiVersion = /^apiVersion: (\S+)/m.exec(document)?.[1]
      const kind = /^kind: (\S+)/m.exec(document)?.[1]
      return apiVersion === undefined || kind === undefined ? [] : [[apiVersion, kind]]
    }),
  )
}
