/** Adoptions in packages with a pipeline, told by the lines that they change. */
import assert from 'node:assert/strict'
import { answerCalls } from '@backporch/kpt/function'
import { Failure } from '@backporch/kyaml/failure'
import { findValueAt } from '@backporch/kyaml/field'
import type { Json } from '@backporch/kyaml/json'
import { builtInFunctions } from '../../functions/built-in-functions.ts'
import type { Drift, Resolution } from '../../src/drift/compare/drift.ts'
import type { ResolvedChange } from '../../src/sources/edits/resolution-edits.ts'
import { adoptThroughPipeline } from '../../src/sources/kpt/adopt/adoption.ts'
import { renderPackage } from '../../src/sources/kpt/render/render-package.ts'
import { driftOf } from './drift-samples.ts'
import { path } from './live-object.ts'
import { filesOf } from './pipeline-files.ts'

export function changeIn(
  texts: { readonly [path: string]: string },
  kind: string,
  location: string,
  live: Json | undefined,
  {
    resolution = 'Adopt',
    via,
    ...more
  }: Partial<Drift> & { resolution?: Resolution; via?: string } = {},
): ResolvedChange {
  const rendering = answerCalls(renderPackage('apps/web', filesOf(texts)), builtInFunctions)
  if ('failures' in rendering) throw rendering.failures[0]
  const desired = rendering.desired.resources.find(({ id }) => id.kind === kind)
  assert.ok(desired !== undefined)
  const git = location === '' ? desired.object : findValueAt(desired.object, path(location))
  const change = live === undefined ? 'removed' : git === undefined ? 'added' : 'modified'
  return {
    desired,
    resolution,
    via,
    drift: { ...driftOf(location), id: desired.id, git, live, change, ...more },
  }
}

/** Texts of files by path from the package. */
type Texts = { readonly [path: string]: string }

/** The package with the adopted changes. */
export function editedTexts(texts: Texts, ...changes: readonly ResolvedChange[]): Texts {
  const { texts: edited } = adoptThroughPipeline({
    packagePath: 'apps/web',
    files: filesOf(texts),
    changes,
    functions: builtInFunctions,
  })
  return {
    ...texts,
    ...Object.fromEntries(
      [...edited].map(([file, text]) => [file.slice('apps/web/'.length), text]),
    ),
  }
}

/** Lines that changed, as `- old` and `+ new`, by file from the root of the repository. */
export function adopted(
  texts: Texts,
  ...changes: readonly ResolvedChange[]
): { readonly [path: string]: readonly string[] } {
  const lines = Object.entries(changedLines(texts, editedTexts(texts, ...changes)))
  return Object.fromEntries(lines.map(([path, changed]) => [`apps/web/${path}`, changed]))
}

/** Lines that differ, as `- old` and `+ new`, by file. */
export function changedLines(
  before: Texts,
  after: Texts,
): { readonly [path: string]: readonly string[] } {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (path) => before[path] !== after[path],
  )
  const diff = paths.map((path): [string, string[]] => {
    const [was, is] = [(before[path] ?? '').split('\n'), (after[path] ?? '').split('\n')]
    return [
      path,
      [
        ...was.filter((line) => !is.includes(line)).map((line) => `-${line}`),
        ...is.filter((line) => !was.includes(line)).map((line) => `+${line}`),
      ],
    ]
  })
  return Object.fromEntries(diff)
}

export function refused(texts: Texts, ...changes: readonly ResolvedChange[]): Failure {
  try {
    const lines = adopted(texts, ...changes)
    return assert.fail(`adopted:\n${JSON.stringify(lines, null, 2)}`)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
}
