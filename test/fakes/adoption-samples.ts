/** Adoptions in packages with a pipeline, told by the lines that they change. */
import assert from 'node:assert/strict'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import type { Drift, Resolution } from '../../src/drift/drift.ts'
import { Failure } from '../../src/failure.ts'
import { valueAt } from '../../src/krm/field-path.ts'
import { adoptThroughPipeline } from '../../src/proposal/adopt/adoption.ts'
import type { ResolvedChange } from '../../src/proposal/resolution-edits.ts'
import { answerCalls } from '../../src/render/answer-calls.ts'
import { renderPackage } from '../../src/render/render-package.ts'
import type { Json } from '../../src/text/json.ts'
import { driftOf } from './drift-samples.ts'
import { path } from './live-object.ts'
import { filesOf } from './pipeline-files.ts'

export function changeIn(
  texts: { readonly [path: string]: string },
  kind: string,
  location: string,
  live: Json | undefined,
  { resolution = 'Adopt', via, ...more }: Partial<Drift> & { resolution?: Resolution; via?: string } = {},
): ResolvedChange {
  const rendering = answerCalls(renderPackage('apps/web', filesOf(texts)), builtInFunctions)
  if ('failures' in rendering) throw rendering.failures[0]
  const desired = rendering.desired.resources.find(({ id }) => id.kind === kind)
  assert.ok(desired !== undefined)
  const git = location === '' ? desired.object : valueAt(desired.object, path(location))
  const change = live === undefined ? 'removed' : git === undefined ? 'added' : 'modified'
  return { desired, resolution, via, drift: { ...driftOf(location), id: desired.id, git, live, change, ...more } }
}

/** Lines that changed, as `- old` and `+ new`, by file. */
export function adopted(
  texts: { readonly [path: string]: string },
  ...changes: readonly ResolvedChange[]
): { readonly [path: string]: readonly string[] } {
  const edited = adoptThroughPipeline({ packagePath: 'apps/web', files: filesOf(texts), changes, functions: builtInFunctions })
  const diff = [...edited].map(([file, text]): [string, string[]] => {
    const before = (texts[file.slice('apps/web/'.length)] ?? '').split('\n')
    const after = text.split('\n')
    return [
      file,
      [
        ...before.filter((line) => !after.includes(line)).map((line) => `-${line}`),
        ...after.filter((line) => !before.includes(line)).map((line) => `+${line}`),
      ],
    ]
  })
  return Object.fromEntries(diff)
}

export function refused(texts: { readonly [path: string]: string }, ...changes: readonly ResolvedChange[]): Failure {
  try {
    const edited = adoptThroughPipeline({ packagePath: 'apps/web', files: filesOf(texts), changes, functions: builtInFunctions })
    return assert.fail(`adopted:\n${[...edited].map(([file, text]) => `${file}\n${text}`).join('\n')}`)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}
